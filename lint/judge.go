package lint

import (
	"context"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// judge evaluates the policy on facts and collects the findings.
type judge struct {
	ctx      context.Context
	policy   Policy
	levels   *levels
	files    *locate.Files
	renders  *locate.Renders
	failures *failures
	// tally holds the cost of each rule so far, and the rules that failed.
	tally *facts.Tally
	// found holds the findings so far. seen is used to drop duplicates.
	found []accept.Finding
	seen  map[sameFinding]diag.Level
}

// off reports whether a rule is off for every object.
func (j *judge) off(rule string) bool { return j.levels.off(rule) }

// asks reports whether any enabled rule may read a list of facts.
func (j *judge) asks(list string) bool {
	return slices.ContainsFunc(j.policy.IDs(), func(id string) bool { return !j.off(id) && j.policy.MayRead(id, list) })
}

// sameFinding is the key for recognizing a finding that several contexts share.
type sameFinding struct {
	rule, message, details, cluster, render string
	object                                  diag.Object
	location                                diag.Span
}

// add evaluates the policy on facts about objects in a cluster. It records and returns the findings
// that no earlier context reported. The argument c is nil if the facts do not belong to a cluster.
func (j *judge) add(f *derive.Built, c *cluster, objects []*source.Object) []accept.Finding {
	before := len(j.found)
	j.findings(f, c, objects, func(fact int, one *accept.Finding) {
		f.Found(fact)
		j.addUnlessSeen(one)
	})
	return j.found[before:]
}

// all is like add, but returns all findings, including duplicates, and records none of them.
func (j *judge) all(f *derive.Built, c *cluster, objects []*source.Object) (found []accept.Finding) {
	j.findings(f, c, objects, func(fact int, one *accept.Finding) {
		f.Found(fact)
		found = append(found, *one)
	})
	return found
}

// addUnlessSeen adds a finding unless an earlier context already reported it. Of several levels, the
// worst applies.
func (j *judge) addUnlessSeen(found *accept.Finding) {
	keyOf := func(d *diag.Diagnostic) sameFinding {
		return sameFinding{d.Rule, d.Message, fmt.Sprintf("%q", d.Details), d.Cluster, d.Render, d.Object, d.Location}
	}
	key := keyOf(&found.Diagnostic)
	level, known := j.seen[key]
	if known && level.Rank() >= found.Level.Rank() {
		return
	}
	j.seen[key] = found.Level
	if known {
		if i := slices.IndexFunc(j.found, func(o accept.Finding) bool { return keyOf(&o.Diagnostic) == key }); i >= 0 {
			j.found[i].Level, j.found[i].Typical = found.Level, found.Typical
			return
		}
	}
	j.found = append(j.found, *found)
}

// take removes and returns the findings so far.
func (j *judge) take() []accept.Finding {
	found := j.found
	j.found = nil
	return found
}

// findingsOnComplaints converts complaints about suppressions to findings.
func (j *judge) findingsOnComplaints(complaints []accept.Complaint) []accept.Finding {
	j.add(derive.SuppressionFacts(complaints), nil, nil)
	return j.take()
}

// aboutFiles returns the input for building facts about problems in files.
func aboutFiles(problems []source.Problem) derive.Input {
	return derive.Input{Model: sched.New(&workload.Set{}, nil), Problems: problems}
}

// findings evaluates the policy on facts. For each finding, it calls tell with the finding and the
// id of the fact that caused it. The location, object and explanation of a finding come from the
// fact, never from the rule. The argument c is nil if the facts do not belong to a cluster.
func (j *judge) findings(f *derive.Built, c *cluster, objects []*source.Object, tell func(fact int, found *accept.Finding)) {
	judgements, err := j.policy.Evaluate(j.ctx, f.Facts, j.tally)
	j.failures.fail(err)
	for _, failure := range j.tally.Failures {
		if j.off(failure.Rule) {
			continue
		}
		if failure.File != "" {
			failure.File = j.files.FromRoot(failure.File)
		}
		j.failures.leave(failure)
	}
	j.found = slices.Grow(j.found, len(judgements))
	var in *locate.Locator
	about := &scopeContext{files: j.files, renders: j.renders, built: f, objects: objects}
	type copied struct {
		facts.Judgement
		found accept.Finding
	}
	var copies []copied
	report := func(said facts.Judgement, found *accept.Finding) {
		if found.Level = j.levels.of(found, said.Level, about); found.Level != diag.LevelOff {
			tell(said.Fact, found)
		}
	}
	for _, said := range judgements {
		if j.off(said.Rule) {
			continue
		}
		if in == nil {
			in = locate.NewLocator(objects)
		}
		found := j.finding(said, f.Subject(said.Fact), c)
		in.Locate(&found)
		for _, twin := range in.InCopies(&found) {
			copies = append(copies, copied{said, twin})
		}
		report(said, &found)
	}
	for _, k := range copies { // after the findings that a rule itself makes about a copy
		j.context(&k.found, c)
		report(k.Judgement, &k.found)
	}
}

// finding converts a judgement about a fact to a finding. A message from the catalogue gets the
// fixes of the fact. Any other message has at most one fix: the help text of the judgement.
func (j *judge) finding(said facts.Judgement, s derive.Subject, c *cluster) accept.Finding {
	if said.Reason == "" {
		s = s.InOwnWords()
	}
	found := accept.Finding{Diagnostic: diag.Diagnostic{
		Rule: said.Rule, Message: said.Message, Details: said.Details,
		Location: s.At(said.Path), Pending: s.Pending, Related: s.Related, Typical: s.Typical(),
	}}
	if said.Reason != "" {
		found.Fixes, found.Fold = s.Fixes, s.Fold
	} else if said.Help != "" {
		found.Fixes = []diag.Fix{{Description: said.Help}}
	}
	if said.OfContainer {
		found.Fold = diag.OfContainer
	}
	j.context(&found, c)
	if s.Object != nil {
		found.Object = *s.Object
	}
	found.Nodes = c != nil && s.Object == nil
	return found
}

// context sets the cluster, render and branch of a finding.
func (j *judge) context(found *accept.Finding, c *cluster) {
	if c == nil {
		return
	}
	found.Cluster, found.Render, found.Branch = c.name, c.render, c.Branch(found.Location.File)
	if x := j.renders.Results[found.Location.File]; x != nil {
		found.Render = x.Name
	}
	found.Assumed = j.renders.Assumed[found.Render]
}

// problemsOfUnrequested returns the problems of failed renders that were not requested explicitly.
// A comparison counts such a problem if the render succeeded before the change.
func (j *judge) problemsOfUnrequested() (all []diag.Quiet) {
	for _, name := range sorting.Keys(j.renders.Quiet) {
		problem := []source.Problem{j.renders.Quiet[name]}
		j.findings(derive.Facts(aboutFiles(problem)), nil, nil, func(_ int, f *accept.Finding) {
			all = append(all, diag.Quiet{Render: name, Diagnostic: f.Diagnostic})
		})
	}
	return all
}

// levels determines the level of findings. It uses four sources: the rule, the finding, the
// configuration, and the scopes in the configuration. Each source overrides the earlier ones.
type levels struct {
	config *config.Config
	rule   func(rule string) diag.Level
	// offs holds the rules that are off for every object.
	offs map[string]bool
	// bases caches the results of base, because matching globs for every finding would be slow.
	bases map[ruleLevel]base
}

// ruleLevel is a rule and the level that the rule set for a finding. The level is "" if the rule
// set none.
type ruleLevel struct {
	rule  string
	level diag.Level
}

// base is the level of a finding before scopes are applied.
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

// off reports whether a rule is off for every object. It returns false for an unknown rule.
func (l *levels) off(rule string) bool { return l.offs[rule] }

// of returns the level of a finding. The argument level is the level that the rule set for this
// finding, or "". If the rule is off, the result is always off.
func (l *levels) of(found *accept.Finding, level diag.Level, about *scopeContext) diag.Level {
	b := l.base(ruleLevel{found.Rule, level})
	if !b.scoped {
		return b.level
	}
	return l.config.LevelOf(found.Rule, b.level, about.of(found))
}

// base returns the level of a finding before scopes are applied. If no scope mentions the rule,
// this level is final.
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

// scopeContext looks up properties of objects in one context. Scopes match on these properties.
type scopeContext struct {
	files   *locate.Files
	renders *locate.Renders
	built   *derive.Built
	objects []*source.Object

	byID      map[diag.Object]*source.Object // nil until first use
	workloads map[diag.Object]*workload.Workload
}

func (a *scopeContext) of(found *accept.Finding) *config.About {
	if a.byID == nil { // if an object is declared several times, the last declaration wins
		a.byID, a.workloads = map[diag.Object]*source.Object{}, map[diag.Object]*workload.Workload{}
		for _, o := range a.objects {
			a.byID[o.ID()] = o
		}
		for _, w := range a.built.Declared() {
			a.workloads[w.Object.ID()] = w
		}
	}
	all := &config.About{
		Object: found.Object, Cluster: found.Cluster, Render: found.Render, Branch: found.Branch,
		File: a.files.FromConfig(a.renders.InSources(found.Location).File),
		// of the cluster-scoped kinds, only these can have findings
		Global: slices.Contains([]string{"Namespace", "Node", "NodePool", "NodeTopology", "PriorityClass"}, found.Object.Kind),
	}
	if o := a.byID[found.Object]; o != nil {
		all.Labels = locate.LabelsOf(o)
	}
	if w := a.workloads[found.Object]; w != nil {
		all.Workload, all.PodLabels, all.Pods = true, w.Labels, a.mostPods(w)
	}
	return all
}

// mostPods returns the maximum number of pods that a workload can have. A DaemonSet has one on each
// node that it can use.
func (a *scopeContext) mostPods(w *workload.Workload) int {
	switch {
	case w.Fragment:
	case w.Kind.PerNode():
		if nodes, known := a.built.MostNodes(w); known {
			return nodes
		}
	case w.Scale != nil:
		return w.Scale.Max
	case w.Count.Known:
		return w.Count.N
	}
	return config.UnknownPods
}
