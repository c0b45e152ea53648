package derive

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// terms builds the facts about individual affinity terms, spread constraints and node labels.
type terms struct{ *builder }

// usable returns the nodes that the pods may use, or nil if they are unknown.
func (b *builder) usable(w *workload.Workload) []*topology.Node {
	if g := b.m.Group(w); !b.topo || w.SpecNode == nil || len(w.Open) > 0 || g != nil && g.Unknown.Cause == model.ByNodeLabel {
		return nil
	}
	e := b.m.Eligible(w)
	nodes, known := b.nodes[e]
	if known {
		return nodes
	}
	for i, p := range e.Nodes {
		if p.All() {
			nodes = append(nodes, b.m.Topology.Nodes[i])
		}
	}
	for i, p := range e.Growth {
		if g := b.m.Topology.Growth[i]; p.All() && g.Node.Pool.Count == 0 {
			nodes = append(nodes, g.Node)
		}
	}
	b.nodes[e] = nodes
	return nodes
}

// term adds facts about one affinity term or spread constraint. It skips terms that the API server
// rejects. There are separate facts about refusals.
func (b terms) term(w *workload.Workload, t *model.Term, usable []*topology.Node) {
	if unreadable(w, t) {
		return
	}
	b.topologyKey(w, t, usable)
	b.label(w, "topologyKey", t.Key, fieldSpan(w, t.Node, "topologyKey"), t.Node.Get("topologyKey"), termBeside(b.m.Group(w).Terms, t))
	b.selector(w, t)
	b.labelKeys(w, t, "matchLabelKeys", t.MatchKeys)
	b.labelKeys(w, t, "mismatchLabelKeys", t.MismatchKeys)
}

// unreadable reports whether a term has values that are invalid or not yet known.
func unreadable(w *workload.Workload, t *model.Term) bool {
	if t.Key == "" || source.Placeholder(t.Key) {
		return true
	}
	if len(w.Open) == 0 {
		return false
	}
	subtree := "topologySpreadConstraints"
	if t.Use != model.Spread {
		subtree = "affinity.pod"
	}
	return slices.ContainsFunc(w.Open, func(path string) bool { return strings.HasPrefix(path, subtree) || path == "affinity" })
}

func (b terms) selector(w *workload.Workload, t *model.Term) {
	matches := b.m.Selected(t, w, 1)
	if !b.wanted("selectors", "matches", matches, "use", string(t.Use), "form", string(t.Form())) {
		return
	}
	if matches == 0 && w.Object.NamespaceAssumed && t.Labels(w) == model.Yes && b.m.OwnNamespace(t, w) == model.Maybe {
		return // it matches the workload's own pods if they are in the namespace of the release
	}
	fact := facts.Selector{
		Use: string(t.Use), Hard: t.Hard, Form: string(t.Form()), Text: t.Selector(),
		MatchesOwn: diag.Outcome(t.Labels(w).String()), OwnNamespace: diag.Outcome(b.m.OwnNamespace(t, w).String()),
		Matches: matches, Declared: b.declared, Namespaces: facts.Namespaces{Names: append([]string{}, t.Namespaces...)}, Maker: b.maker(w, t),
	}
	if t.NamespaceSelector != nil {
		if text := t.NamespaceText(); text == "{}" {
			fact.Namespaces.All = true
		} else {
			fact.Namespaces.Selector = text
		}
	}
	at := fieldSpan(w, t.Node, "labelSelector")
	if fact.MatchesOwn == diag.Always && fact.OwnNamespace == diag.Never {
		for _, field := range []string{"namespaces", "namespaceSelector"} {
			if span := fieldSpan(w, t.Node, field); !span.IsZero() {
				at = span
				break
			}
		}
	}
	if at.IsZero() {
		at = w.File().ItemSpan(t.Node)
	}
	s := about(w, at)
	if fact.Matches == 0 {
		fact.Nearest = nearestLabel(w, t)
		if t.Use == model.Affinity {
			fact.Nearest = b.m.NearestLabel(t)
		} else {
			s = s.related(labelsSpan(w), "%s", message.PodLabels(labelsOf(w)))
		}
		if key := t.OwnKey(w); key != "" {
			s = s.fix("%s", message.OtherRevisions(key, t.Key))
		} else {
			s = s.fix("%s", message.SelectorFix(&fact))
		}
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Selectors = append(b.Selectors, fact)
}

// nearestLabel returns a label of the workload's own pods that almost matches the selector. For
// example, app=web almost matches app=website.
func nearestLabel(w *workload.Workload, t *model.Term) string {
	for _, r := range t.Pairs() {
		if v, ok := w.Labels[r[0]]; ok && v != r[1] {
			return r[0] + "=" + v
		}
	}
	for _, r := range t.Pairs() {
		for _, k := range []string{"app.kubernetes.io/name", "app", "k8s-app", "name"} {
			if w.Labels[k] == r[1] {
				return k + "=" + r[1]
			}
		}
	}
	return ""
}

// labelsSpan returns the span of the pod template's labels.
func labelsSpan(w *workload.Workload) diag.Span {
	return fieldSpan(w, w.TemplateNode.Get("metadata"), "labels")
}

// labelsOf returns the labels of the pod template as written.
func labelsOf(w *workload.Workload) []string {
	var labels []string
	for k, v := range w.TemplateNode.At("metadata", "labels").Fields() {
		labels = append(labels, k.Value+"="+v.Value)
	}
	return labels
}

// labelKeys adds facts about the keys in matchLabelKeys or mismatchLabelKeys. Each fact says
// whether the pods have the label (R-A18, R-P7).
func (b terms) labelKeys(w *workload.Workload, t *model.Term, list string, keys []string) {
	items := t.Node.Get(list).Items()
	var candidates []string
	for i, key := range keys {
		b.m.Run().Spend(1)
		if i >= len(items) || key == "" {
			continue
		}
		fact := facts.LabelKey{List: list, Key: key, OnPod: diag.Never}
		if _, ok := w.Labels[key]; ok {
			fact.OnPod = diag.Always
		} else if added, _ := w.Added(key); added {
			fact.OnPod = diag.Always
		} else if items[i].Placeholder() || len(w.Object.Root.At("metadata", "ownerReferences").Items()) > 0 {
			fact.OnPod = diag.Unknown
		}
		if !b.wanted("label_keys", "on_pod", fact.OnPod) {
			continue
		}
		s := about(w, w.File().Span(items[i]))
		if fact.OnPod == diag.Never {
			if candidates == nil {
				for k := range w.TemplateNode.At("metadata", "labels").Fields() {
					candidates = append(candidates, k.Value)
				}
				candidates = slices.Concat(candidates, w.Kind.Shared, w.PerPod())
			}
			fact.Nearest = b.nearest(key, candidates)
			s = s.related(labelsSpan(w), "%s", message.PodLabels(labelsOf(w)))
			if fact.Nearest != "" {
				s.Fixes = []diag.Fix{write(w, items[i], fact.Nearest)}
			} else {
				s = s.fix("%s", message.AddPodLabel(key))
			}
		}
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.LabelKeys = append(b.LabelKeys, fact)
	}
}

// unmet adds a fact about a required affinity term that no pod can satisfy.
func (b terms) unmet(w *workload.Workload, u bound.Unmet, usable []*topology.Node) {
	t := u.Term
	if unreadable(w, t) {
		return
	}
	b.faulty[w] = true
	fact := facts.Affinity{Outcome: diag.Never, Cause: u.Cause, Key: t.Key, Usable: len(usable), Beside: u.Beside}
	if u.Between[0] != nil {
		fact.Between = []string{u.Between[0].String(), u.Between[1].String()}
	}
	var s Subject
	switch u.Cause {
	case "missing-key":
		s = alone(w, fieldSpan(w, t.Node, "topologyKey"))
		for i, n := range usable {
			if _, ok := n.Labels[t.Key]; ok {
				fact.With++
			} else if i < 3 {
				s = s.node(n, message.LacksKey(t.Key))
			}
		}
		if fact.With == 0 {
			fact.Suggestion = b.suggest(t.Key)
		}
		if fact.Suggestion != "" {
			s.Fixes = []diag.Fix{b.advisor().corrected(w, t, fact.Suggestion)}
		} else {
			s = s.fix("%s", message.AffinityFix(&fact))
		}
	case "null-selector":
		s = alone(w, w.File().ItemSpan(t.Node)).fix("%s", message.AffinityFix(&fact))
	default:
		s = alone(w, fieldSpan(w, t.Node, "labelSelector")).related(fieldSpan(w, u.Other.Node, "labelSelector"), "%s", message.AlsoToMatch)
		s = s.fix("%s", message.AffinityFix(&fact))
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Affinity = append(b.Affinity, fact)
}

// softRules returns the preferred rules that request spreading.
func softRules(w *workload.Workload, m *model.Model) []facts.Rule {
	soft := []facts.Rule{}
	for _, t := range m.Group(w).Terms {
		if !t.Hard && (t.Use == model.AntiAffinity && m.Peer(t, w, w) == model.Yes || t.Use == model.Spread && t.Constraint.WhenUnsatisfiable == corev1.ScheduleAnyway) {
			soft = append(soft, facts.Rule{Use: string(t.Use), Key: t.Key})
		}
	}
	return soft
}

// fragments adds facts about placement fields in objects that schedlint does not judge. The facts
// cover values that the core API rejects, and node labels. There are no facts about pods, because
// an operator decides which pods exist and which of them get these fields.
func (b terms) fragments(set *workload.Set) {
	for _, o := range set.Foreign {
		b.settled[o.ID()] = &progress{}
	}
	var nodes []*topology.Node // all nodes, plus one for each pool that has none yet
	if t := b.m.Topology; !t.Empty() {
		nodes = slices.Clip(t.Nodes)
		for _, g := range t.Growth {
			if g.Node.Pool.Count == 0 {
				nodes = append(nodes, g.Node)
			}
		}
	}
	purse := b.m.SharedBudget(model.ObjectsOf(set.Fragments))
	for _, w := range set.Fragments {
		if !purse.Ask(w.Object, askFragment, func() { b.fragment(w, nodes) }) {
			b.settled[w.Object.ID()] = &progress{}
		}
	}
}

func (b terms) fragment(w *workload.Workload, nodes []*topology.Node) {
	for _, p := range slices.Concat(w.Gated, w.Problems) {
		b.refusals().refusal(w, w.String(), about(w, p.Span), p)
	}
	for _, u := range w.Unknown {
		b.refusals().unknownField(w, u)
	}
	all := model.FragmentTerms(w)
	b.m.Run().Spend(len(all))
	for _, t := range all {
		if unreadable(w, t) {
			continue
		}
		b.topologyKey(w, t, nodes)
		b.label(w, "topologyKey", t.Key, fieldSpan(w, t.Node, "topologyKey"), t.Node.Get("topologyKey"), termBeside(all, t))
	}
	b.nodeLabels(w)
	// A chart can only add conditions. If no node matches the values, no node matches the rendered pods.
	if w.Within == "" || len(nodes) == 0 || len(w.Problems)+len(w.Unknown) > 0 {
		return
	}
	if k, v := w.SpecNode.Field("nodeSelector"); k != nil {
		b.nodeMatch(w, "nodeSelector", w.File().FieldSpan(k, v), []conditions{selectorConditions(w, v)}, nodes)
	}
	required := w.SpecNode.At("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	if k, v := required.Field("nodeSelectorTerms"); k != nil {
		b.nodeMatch(w, "nodeAffinity", w.File().FieldSpan(k, v), affinityConditions(w, v), nodes)
	}
}
