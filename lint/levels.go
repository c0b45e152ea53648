package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// levels determines the level of findings. Later sources override earlier ones: the rule, the
// finding, the configuration, the configuration's scopes.
type levels struct {
	config *config.Config
	rule   func(rule string) diag.Level
	// Rules that are off for every object.
	offs map[string]bool
	// Results of base: keys are globs, and there are many findings.
	bases map[ruleLevel]base
}

// ruleLevel is a rule and the level that it gave a finding, "" for none.
type ruleLevel struct {
	rule  string
	level diag.Level
}

// base is the level of a finding before scopes apply.
type base struct {
	level  diag.Level
	scoped bool
}

func newLevels(o *Options) *levels {
	l := &levels{config: o.Config, rule: o.Level, offs: map[string]bool{}, bases: map[ruleLevel]base{}}
	if o.Policy == nil {
		return l
	}
	for _, id := range o.Policy.IDs() {
		if l.rule == nil || l.config.Off(id, l.rule(id)) {
			l.offs[id] = true
		}
	}
	return l
}

// off reports whether a rule is off for every object. It is false for an unknown rule.
func (l *levels) off(rule string) bool { return l.offs[rule] }

// of returns the level of a finding; level is the one that the rule gave this finding, "" for
// none. The level of a finding does not turn on a rule that is off.
func (l *levels) of(found *accept.Finding, level diag.Level, about *scopeContext) diag.Level {
	b := l.base(ruleLevel{found.Rule, level})
	if !b.scoped {
		return b.level
	}
	return l.config.LevelOf(found.Rule, b.level, about.of(found))
}

// base returns the level before scopes apply. If no scope is about the rule, that level is
// final.
func (l *levels) base(s ruleLevel) base {
	if b, ok := l.bases[s]; ok {
		return b
	}
	b := base{l.rule(s.rule), l.config.Scoped(s.rule)}
	if s.level != "" && b.level != diag.LevelOff {
		b.level = s.level
	}
	if !b.scoped {
		b.level = l.config.Level(s.rule, b.level)
	}
	l.bases[s] = b
	return b
}

// scopeContext describes to scopes what the findings of one context are about.
type scopeContext struct {
	files   *locate.Files
	renders *locate.Renders
	built   *derive.Built
	objects []*source.Object

	byID      map[diag.Object]*source.Object // nil until first use
	workloads map[diag.Object]*workload.Workload
}

func (a *scopeContext) of(found *accept.Finding) *config.About {
	a.index()
	all := &config.About{
		Object: found.Object, Cluster: found.Cluster, Global: isGlobal(found.Object.Kind),
		File: a.files.FromConfig(a.renders.InSources(found.Location).File),
	}
	if o := a.byID[found.Object]; o != nil {
		all.Labels = locate.LabelsOf(o)
	}
	if w := a.workloads[found.Object]; w != nil {
		all.Workload, all.PodLabels, all.Pods = true, w.Labels, mostPods(w)
	}
	return all
}

// index maps ids to objects. The last declaration of an object wins.
func (a *scopeContext) index() {
	if a.byID != nil {
		return
	}
	a.byID, a.workloads = map[diag.Object]*source.Object{}, map[diag.Object]*workload.Workload{}
	for _, o := range a.objects {
		a.byID[o.ID()] = o
	}
	for _, w := range a.built.Declared() {
		a.workloads[w.Object.ID()] = w
	}
}

// isGlobal reports whether a kind that findings are about is cluster-scoped.
func isGlobal(kind string) bool {
	return slices.Contains([]string{"Namespace", "Node", "NodePool", "NodeTopology", "PriorityClass"}, kind)
}

// mostPods returns the maximum number of pods of a workload.
func mostPods(w *workload.Workload) int {
	switch {
	case w.Fragment:
		return config.UnknownPods
	case w.Scale != nil:
		return w.Scale.Max
	case w.Count.Known:
		return w.Count.N
	}
	return config.UnknownPods
}
