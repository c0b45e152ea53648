package derive

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// placement adds facts about the nodes that the pods of one workload can use.
func (b limits) placement(w *workload.Workload) {
	b.settle(w, func(d *progress) { d.idle = b.m.Judged(w) && !w.Kind.PerNode() && w.Count.Known && w.Count.N == 0 })
	cause := b.m.Group(w).Unknown.Cause
	if (cause == model.ByAdmission && (w.Admission == "" || w.Spec.RuntimeClassName == "") || cause == model.ByOperator) && w.Count.N > 0 {
		b.limits(w) // exceeded limits stay exceeded even if admission raises requests or rejects the pods
	}
	if (cause == model.ByNamespace || cause == model.ByVolume) && w.Count.N > 0 && b.eligibility(w) && b.requests(w) {
		b.limits(w) // an exceeded limit is exceeded in any namespace, and wherever volumes are
	}
	if !b.m.Judged(w) || !w.Kind.PerNode() && w.Count.N == 0 {
		return
	}
	b.settle(w, func(d *progress) {
		d.placed = !b.m.MaybeApart(w) && !w.Refused() && len(w.Open) == 0 && len(search.Unlisted(b.m, w)) == 0
		d.sized = d.placed && b.roomy
	})
	if b.eligibility(w) && b.requests(w) {
		b.limits(w)
		if !b.unlisted(w) && w.Spec.NodeName == "" && !b.m.MaybeApart(w) {
			b.sharing(w)
		}
	}
}

// sharing adds a fact about whether all pods of a workload can end up on one node.
func (b limits) sharing(w *workload.Workload) {
	t, all := bound.Share(b.m, w) // fast if all pods fit on one node
	if all == model.Maybe {
		t = bound.TogetherOf(b.m, w)
	}
	outcome := diag.Always
	switch {
	case w.Finite() || w.Kind.PerNode() || !w.Count.Known || w.Count.N < 2:
		outcome = diag.None
	case t.OnOneNode < w.Count.N:
	case t.Usable < 2:
		outcome = diag.Never
	default:
		outcome = diag.Sometimes
	}
	if !b.wanted("sharing", "outcome", outcome, "pods", w.Count.N) {
		return
	}
	if all == model.No { // Share does not return the number
		t = bound.TogetherOf(b.m, w)
	}
	fact := facts.Sharing{
		Outcome: outcome, Pods: w.Count.N, Usable: t.Usable, Zones: t.Zones, OnOneNode: t.OnOneNode, Node: t.Node, InOneZone: t.InOneZone,
		Soft: softRules(w, b.m),
	}
	s := alone(w, w.CountSpan())
	for _, t := range b.m.Group(w).Terms {
		if !t.Hard && t.Use != model.Affinity {
			s = s.related(fieldSpan(w, t.Node, "topologyKey"), message.NotEnforced)
		}
	}
	if fact.Outcome == diag.Sometimes {
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.advisor().apart(s, w) })
	}
	s.Fold = "rules"
	for i := range fact.Soft {
		s.Fold += " " + fact.Soft[i].Use + " " + fact.Soft[i].Key
		fact.Soft[i].W = b.row(w)
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Sharing = append(b.Sharing, fact)
}

// maxRelated is the maximum number of nodes among the related locations of a finding.
const maxRelated = 3

// excluded adds the excluded nodes to a subject as related locations. It returns up to maxReasons
// reasons for their exclusion.
func excluded(m *model.Model, s Subject, w *workload.Workload, small bool) (Subject, []facts.Exclusion) {
	all := m.Excluded(w, small)
	rows := []facts.Exclusion{}
	for _, o := range w.Adds {
		if len(all) > 0 {
			s = s.related(o.NameSpan(), "%s", message.Adds(o))
		}
	}
	for k := range all[:min(len(all), maxReasons)] {
		x := &all[k]
		rows = append(rows, message.ExclusionRow(x))
		for _, n := range x.Nodes[:min(len(x.Nodes), maxRelated)] {
			s = s.node(n, message.Excluded(x))
		}
		if x.Reach != nil {
			s = s.related(x.Reach.By.NameSpan(), "%s", message.ReachOf(x.Reach))
		}
	}
	return s, rows
}

// maxReasons is the maximum number of reasons in a fact.
const maxReasons = 50

// eligibility adds a fact about how many nodes pass the node-level filters. It reports whether any
// node passes them.
func (b limits) eligibility(w *workload.Workload) bool {
	e := b.m.Eligible(w)
	if e.Count+e.Growable > 0 && len(w.AllReaches())+len(w.Early) == 0 && !b.wanted("eligibility", "outcome", diag.Always) {
		return true
	}
	fact := facts.Eligibility{Outcome: diag.Always, Pods: w.Count.N, Nodes: len(e.Nodes), Eligible: e.Count, Usable: []string{}}
	// Pods bound to a missing node are deleted (R-N1; pkg/controller/podgc/gc_controller.go,
	// gcOrphaned). If pods do not fit on an existing node, its kubelet rejects them. In both cases,
	// no pod waits in the scheduler.
	if w.Spec.NodeName != "" {
		if fact.Bound = "undeclared"; declared(b.m, w.Spec.NodeName) {
			fact.Bound = "declared"
		}
	}
	s := alone(w, diag.Span{})
	if early := b.early(w, &fact); early != nil {
		s = alone(w, early.Claim.Span).related(early.Class.NameSpan(), "%s", message.MakesEarly(early)).fix("%s", message.WaitForConsumer(early))
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.Eligibility = append(b.Eligibility, fact)
		return true
	}
	if b.volumes(w, &fact) {
		b.faulty[w] = fact.Outcome == diag.Never
		s = alone(w, w.Claims[0].Span).related(w.CountSpan(), "%s", message.ToSchedule(w.Count.N))
		for _, r := range w.AllReaches() {
			s = s.related(r.By.NameSpan(), "%s", message.ReachOf(&r))
		}
		fact.ID, fact.W = b.subject(s.fix("%s", message.MoveVolumes)), b.row(w)
		b.Eligibility = append(b.Eligibility, fact)
		return fact.Outcome != diag.Never
	}
	if e.Count+e.Growable == 0 {
		if w.Kind.PerNode() {
			return false // a DaemonSet may run on no node at all (R-N29)
		}
		fact.Outcome, b.faulty[w] = diag.Never, true
		s = alone(w, nodeRule(b.m, w))
		s, fact.Excluded = excluded(b.m, s.related(w.CountSpan(), "%s", message.ToSchedule(w.Count.N)), w, false)
		fact.MoreExcluded = len(b.m.Excluded(w, false)) - len(fact.Excluded)
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.eligibilityFix(s, w) })
	}
	if fact.Outcome == diag.Always && !b.wanted("eligibility", "outcome", diag.Always) {
		return true
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Eligibility = append(b.Eligibility, fact)
	return fact.Outcome == diag.Always
}

// volumes sets the fact about a workload whose pods can all be placed if nothing else is on the nodes
// and they have no volumes, but not with their volumes.
func (b limits) volumes(w *workload.Workload, fact *facts.Eligibility) (found bool) {
	if len(w.AllReaches()) == 0 || w.Kind.PerNode() || w.Finite() {
		return false
	}
	decide := func(o *workload.Workload) (diag.Outcome, int) {
		defer b.m.Guest(o)()
		d := search.Decide(b.m.Beside([]*workload.Workload{o}), search.Options{})
		if len(d.Workloads) == 0 {
			return diag.Unknown, 0
		}
		return d.Workloads[0].Verdict, d.Workloads[0].MaxPlaced
	}
	guest, free := *w, *w
	if fact.Outcome, fact.Most = decide(&guest); fact.Outcome == diag.Never || fact.Outcome == diag.Sometimes {
		free.Reaches, free.OrdinalReaches = nil, nil
		v, _ := decide(&free)
		found = v == diag.Always
	}
	if !found {
		fact.Outcome, fact.Most = diag.Always, 0
	}
	for _, r := range w.AllReaches() {
		if found && len(fact.Volumes) < maxReasons {
			fact.Volumes = append(fact.Volumes, message.ExclusionRow(&model.Exclusion{Kind: model.OtherVolume, Reach: &r, Requirement: r.Only()}))
		}
	}
	return found
}

// early sets the fact about a workload whose volumes may be made where its pods cannot run, as they
// are made before the pods are scheduled (R-N35). It returns the first claim with such a volume.
func (b limits) early(w *workload.Workload, fact *facts.Eligibility) *workload.Early {
	if w.Kind.PerNode() || w.Finite() || slices.ContainsFunc(w.AllReaches(), func(r workload.Reach) bool { return r.Open != "" }) {
		return nil
	}
	for _, e := range w.Early {
		made, usable := b.m.Early(w, e)
		suits := func(value string) bool { return slices.Contains(usable, value) }
		if !slices.ContainsFunc(made, suits) || !slices.ContainsFunc(made, func(value string) bool { return !suits(value) }) {
			continue
		}
		fact.Outcome, fact.Usable = diag.Sometimes, usable
		fact.Volumes = []facts.Exclusion{{Reason: string(model.OtherVolume), Claim: e.Claim.Name, Volume: "StorageClass " + e.Class.Name,
			Key: e.Key, Operator: string(corev1.NodeSelectorOpIn), Values: made, Names: []string{}}}
		return e
	}
	return nil
}

// nodeRule returns the span of the narrowest field that keeps the pods off the nodes.
func nodeRule(m *model.Model, w *workload.Workload) diag.Span {
	spec := w.SpecNode
	if w.Spec.NodeName != "" {
		return fieldSpan(w, spec, "nodeName")
	}
	taints := 0
	for _, x := range m.Excluded(w, false) {
		if x.Taint != nil {
			taints += len(x.Nodes)
		}
		if i := slices.IndexFunc(w.Claims, func(c *workload.Claim) bool { return x.Reach != nil && c.Name == x.Reach.Claim }); i >= 0 {
			return w.Claims[i].Span
		}
	}
	selector, required := spec.Get("nodeSelector"), spec.At("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	all := len(m.Topology.Nodes) + len(m.Topology.Growth)
	switch {
	case taints >= all && spec.Get("tolerations").Len() > 0:
		return fieldSpan(w, spec, "tolerations")
	case taints >= all:
		return w.CountSpan()
	case required.Len() > 0 && (selector.Len() == 0 || failingPair(m, w, selector).IsZero() && affinityFails(m, w)):
		// If there are several expressions, the span is that of nodeSelectorTerms.
		terms := required.Get("nodeSelectorTerms").Items()
		if len(terms) == 1 {
			if list := terms[0].Get("matchExpressions").Items(); len(list) == 1 {
				return w.File().ItemSpan(list[0])
			}
		}
		return fieldSpan(w, required, "nodeSelectorTerms")
	case selector.Len() == 1:
		for k, v := range selector.Fields() {
			return w.File().FieldSpan(k, v)
		}
	case selector.Len() > 1:
		return cmp.Or(failingPair(m, w, selector), fieldSpan(w, spec, "nodeSelector"))
	}
	return w.CountSpan()
}

// affinityFails reports whether the required node affinity alone matches no node. It ignores the
// nodeSelector.
func affinityFails(m *model.Model, w *workload.Workload) bool {
	c := *w
	c.Spec.NodeSelector = nil
	f := model.NewFilter(&c)
	matches := func(n *topology.Node) bool { return f.Passes(n).Selector }
	return !slices.ContainsFunc(m.Topology.Nodes, matches) && !slices.ContainsFunc(m.Topology.Growth, func(g topology.Growth) bool { return matches(g.Node) })
}

// failingPair returns the span of a nodeSelector label that no node has, or the zero Span. If there
// are several, it picks the first in alphabetical order. The order of fields in the file does not
// matter.
func failingPair(m *model.Model, w *workload.Workload, selector *source.Node) diag.Span {
	pairs := map[string]*source.Node{}
	for k := range selector.Fields() {
		pairs[k.Value] = k
	}
	for _, name := range sorting.Keys(pairs) {
		k, v := pairs[name], selector.Get(name)
		if !slices.ContainsFunc(m.Topology.AllNodeLabels(), func(labels map[string]string) bool { return labels[k.Value] == v.Value }) {
			return w.File().FieldSpan(k, v)
		}
	}
	return diag.Span{}
}

func (b limits) eligibilityFix(s Subject, w *workload.Workload) Subject {
	if w.Spec.NodeName != "" {
		names := lists.Of(b.m.Topology.Nodes, func(n *topology.Node) string { return n.Name })
		if near := b.nearest(w.Spec.NodeName, names); near != "" && !slices.Contains(names, w.Spec.NodeName) {
			return s.fix("%s", message.SetNodeName(near))
		}
		return s.fix(message.RemoveNodeName)
	}
	for _, k := range sorting.Keys(w.Spec.NodeSelector) {
		if near := b.nearNodeLabel(k, w.Spec.NodeSelector[k]); near != "" {
			s = s.fix("%s", message.Select(near))
		}
	}
	excluded := b.m.Excluded(w, false)
	if len(excluded) > 0 && len(s.Fixes) == 0 {
		last := excluded[len(excluded)-1]
		for _, x := range slices.Backward(excluded) { // the pods need not tolerate that a node is not in service
			if x.Taint == nil || x.Tolerable() {
				last = x
				break
			}
		}
		switch {
		case last.Cordon():
			s = s.fix("%s", message.Uncordon(&last))
		case last.Tolerable():
			s = b.advisor().toleration(s, w, &last)
		case last.Taint != nil:
			s = s.fix("%s", message.AddUntainted(&last))
		case last.Kind == model.LacksLabel, last.Kind == model.UnsetLabel:
			s = s.fix("%s", message.LabelNode(&last))
		default:
			s = s.fix(message.MatchNodes)
		}
	}
	return s
}

// nearNodeLabel returns the node label that the user probably meant instead of a label in a
// selector.
func (b limits) nearNodeLabel(key, value string) string {
	var keys, values []string
	for _, labels := range b.m.Topology.AllNodeLabels() {
		b.m.Run().Spend(1 + len(labels))
		if v, ok := labels[key]; ok {
			values = append(values, v)
		}
		keys = append(keys, lists.Where(sorting.Keys(labels), func(k string) bool { return labels[k] == value })...)
	}
	if slices.Contains(values, value) {
		return ""
	}
	if near := b.nearest(value, values); near != "" {
		return key + "=" + near
	}
	if near := b.nearest(key, keys); near != "" && len(values) == 0 {
		return near + "=" + value
	}
	return ""
}

// requests adds facts that compare a pod's requests with empty nodes. It reports whether the pod
// fits on any node.
func (b limits) requests(w *workload.Workload) bool {
	if !b.wanted("requests", "outcome", diag.Always, "unlisted", false) && bound.FitsSomewhere(b.m, w) {
		return true
	}
	fit := bound.RequestFits(b.m, w)
	b.faulty[w] = b.faulty[w] || fit.Fitting == 0 || w.Kind.PerNode() && fit.Fitting < fit.Eligible
	first := len(b.Requests)
	for i := range fit.Requests {
		r := &fit.Requests[i]
		outcome := diag.Always
		// The request is too large for every node or, in a DaemonSet, for some node.
		if r.Fitting == 0 && fit.Eligible > 0 || w.Kind.PerNode() && r.Fitting < fit.Eligible {
			outcome = diag.Never
		}
		if !b.wanted("requests", "outcome", outcome, "unlisted", false) {
			continue
		}
		fact := facts.Request{
			Outcome: outcome, Resource: string(r.Name), Request: r.Quantity.String(), Largest: r.Largest.String(),
			LargestNode: r.LargestNode, Reserved: r.Reserved.String(), AtMost: r.AtMost, Eligible: fit.Eligible, Fitting: r.Fitting, PerNode: w.Kind.PerNode(),
		}
		s := alone(w, diag.Span{})
		if outcome == diag.Never {
			s = alone(w, requestSpan(w, r.Name))
			if w.LimitRange != nil {
				s = s.related(w.LimitRange.NameSpan(), "%s", message.SetsRequests(w.LimitRange.Name))
			}
			if r.Largest.IsZero() && r.Reserved.IsZero() { // no node offers the resource
				fact.LargestNode = ""
			} else {
				s = s.related(r.LargestSpan, "%s", message.MostOfAll(&fact))
			}
			roomy := func(n *topology.Node) bool { most, _ := model.Fits(n, b.m.Group(w).Requests); return most > 0 }
			all := b.m.Excluded(w, false)
			i := slices.IndexFunc(all, func(x model.Exclusion) bool { return x.Tolerable() && slices.ContainsFunc(x.Nodes, roomy) })
			if i >= 0 && !w.Kind.PerNode() { // a taint keeps the pods off nodes that have as much
				s = b.advisor().toleration(s.node(all[i].Nodes[0], message.Excluded(&all[i])), w, &all[i])
			} else if r.Largest.IsZero() {
				s = s.fix("%s", message.AddNodeWith(&fact))
			} else {
				s = s.fix("%s", message.RequestAtMost(&fact))
			}
		}
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.Requests = append(b.Requests, fact)
	}
	if fit.Fitting == 0 && fit.Eligible > 0 && !slices.ContainsFunc(b.Requests[first:], func(r facts.Request) bool { return r.Outcome == diag.Never }) {
		// Each of the requests alone may fit on some node: the nodes with enough memory may have too little CPU.
		if len(fit.Requests) != 0 {
			fact := facts.Request{Outcome: diag.Never, Eligible: fit.Eligible, PerNode: w.Kind.PerNode()}
			for _, r := range fit.Requests {
				fact.Together = append(fact.Together, facts.ResourceRequest{Resource: string(r.Name), Request: r.Quantity.String()})
			}
			s := alone(w, requestSpan(w, fit.Requests[0].Name)).fix(message.LowerOneRequest)
			fact.ID, fact.W = b.subject(s), b.row(w)
			b.Requests = append(b.Requests, fact)
		}
	}
	return fit.Fitting > 0
}

// requestSpan returns the span of the largest request for a resource, in a container or in the
// domain of a KubeVirt machine.
func requestSpan(w *workload.Workload, name corev1.ResourceName) diag.Span {
	var best diag.Span
	most := int64(-1)
	look := func(node *source.Node, r workload.Resources) {
		q, ok := r.Requests[name]
		if !ok { // a container without a request requests its limit (R-P3)
			q, ok = r.Limits[name]
		}
		span := cmp.Or(fieldSpan(w, node.Get("requests"), string(name)), fieldSpan(w, node.Get("limits"), string(name)))
		if ok && !span.IsZero() && q.MilliValue() > most {
			best, most = span, q.MilliValue()
		}
	}
	for _, c := range model.ClaimsOf(w, name) {
		return c.Span
	}
	spec := w.SpecNode
	if w.Kind.VM {
		domain := spec.Get("domain")
		for _, at := range []diag.Span{
			fieldSpan(w, domain.At("resources", "requests"), string(name)),
			fieldSpan(w, domain.At("resources", "limits"), string(name)),
			fieldSpan(w, domain.Get("memory"), map[corev1.ResourceName]string{corev1.ResourceMemory: "guest"}[name]),
			fieldSpan(w, domain.Get("cpu"), map[corev1.ResourceName]string{corev1.ResourceCPU: "cores"}[name]),
		} {
			if !at.IsZero() {
				return at
			}
		}
		return best
	}
	for _, list := range []struct {
		containers []workload.Container
		nodes      []*source.Node
	}{{w.Spec.Containers, spec.Get("containers").Items()}, {w.Spec.InitContainers, spec.Get("initContainers").Items()}} {
		for i, c := range list.containers {
			look(list.nodes[i].Get("resources"), c.Resources)
		}
	}
	if r := w.Spec.Resources; r != nil {
		look(spec.Get("resources"), *r)
	}
	if best.IsZero() {
		best = fieldSpan(w, spec.Get("overhead"), string(name))
	}
	return best
}

// declared reports whether the topology declares a node with the given name.
func declared(m *model.Model, node string) bool {
	return slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { return n.Name == node })
}

// unlisted adds facts about requested extended resources that no node lists. It reports whether
// there are any. If so, it is unknown which nodes the pods can use. The workload then gets no facts
// about changes or about other workloads.
func (b limits) unlisted(w *workload.Workload) bool {
	names := search.Unlisted(b.m, w)
	if len(names) == 0 {
		return false
	}
	b.faulty[w] = true
	requests := b.m.Group(w).Requests
	e := b.m.Eligible(w)
	for _, name := range names {
		i := slices.IndexFunc(requests, func(r model.Request) bool { return r.Name == name })
		fact := facts.Request{
			Outcome: diag.Unknown, Resource: string(name), Request: requests[i].Quantity.String(), Largest: "0",
			Eligible: e.Count + e.Growable, PerNode: w.Kind.PerNode(), Unlisted: true, Suggestion: b.nearResource(name),
		}
		s := about(w, requestSpan(w, name))
		if fact.Suggestion != "" {
			s = s.fix("%s", message.RequestInstead(fact.Suggestion))
		}
		s = s.fix("%s", message.ListResource(name))
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.Requests = append(b.Requests, fact)
	}
	return true
}

// nearResource returns the extended resource that the user probably meant instead of name. Either
// the name is similar and the domain is the same, or the domain is similar and the name is the
// same. The two parts are compared separately because names are much shorter than domains.
func (b limits) nearResource(name corev1.ResourceName) string {
	domain, rest, _ := strings.Cut(string(name), "/")
	byName, byDomain := map[string]string{}, map[string]string{}
	var names, domains []string
	for _, listed := range b.m.Topology.Extended.Names() {
		d, r, _ := strings.Cut(listed, "/")
		if d == domain {
			names, byName[r] = append(names, r), listed
		}
		if r == rest {
			domains, byDomain[d] = append(domains, d), listed
		}
	}
	if near := b.nearest(rest, names); near != "" {
		return byName[near]
	}
	return byDomain[b.nearest(domain, domains)]
}
