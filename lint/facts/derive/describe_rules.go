package derive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// tolerations adds a row for each toleration of the pods. Each row lists the pools that the pods
// can use only with this toleration.
func (d *describing) tolerations(w *workload.Workload, row *facts.Workload) {
	row.Tolerations = []facts.Toleration{}
	items := w.SpecNode.Get("tolerations").Items()
	for i, t := range w.Spec.Tolerations {
		fact := facts.Toleration{
			Key: t.Key, Operator: listed(cmp.Or(t.Operator, corev1.TolerationOpEqual), "Equal", "Exists", "Lt", "Gt"),
			Value: t.Value, Effect: listed(t.Effect, "", "NoSchedule", "PreferNoSchedule", "NoExecute"), Seconds: -1, Known: true, Pools: []string{},
		}
		if t.TolerationSeconds != nil {
			fact.Seconds = int(max(0, *t.TolerationSeconds))
		}
		if d.placeable(w) && d.whole("workloads.tolerations.pools") {
			fact.Pools = d.opens(w, i)
		}
		var item *source.Node
		if i < len(items) {
			item = items[i]
		}
		for _, v := range item.Fields() {
			fact.Known = fact.Known && !v.PlaceholderOfNumber()
		}
		fact.ID = d.within(w, item)
		row.Tolerations = append(row.Tolerations, fact)
	}
	stays := slices.ContainsFunc(row.Tolerations, func(t facts.Toleration) bool { return everyKey(t, corev1.TaintEffectNoExecute) && t.Seconds < 0 })
	for i := range row.Tolerations {
		t := &row.Tolerations[i]
		t.ToleratesAll = everyKey(*t, "") || everyKey(*t, corev1.TaintEffectNoSchedule) && stays
	}
}

// everyKey reports whether t tolerates the taints with any key and the given effect. An empty effect
// stands for all of them.
func everyKey(t facts.Toleration, effect corev1.TaintEffect) bool {
	return t.Known && t.Key == "" && t.Operator == string(corev1.TolerationOpExists) && t.Effect == string(effect)
}

// listed returns a value if the API allows it. Otherwise, the value is a mistake or a variable, and
// listed returns unknown.
func listed[T ~string](value T, allowed ...T) string {
	if slices.Contains(allowed, value) {
		return string(value)
	}
	return string(diag.Unknown)
}

// opens returns the pools that the pods can use only with one of their tolerations. The argument
// without is the index of this toleration.
func (d *describing) opens(w *workload.Workload, without int) []string {
	e := d.m.Eligible(w)
	other := *w
	other.Spec.Tolerations = slices.Delete(slices.Clone(w.Spec.Tolerations), without, without+1)
	filter := model.NewFilter(&other)
	open := map[string]bool{}
	closed := map[string]bool{} // the pods can use some node of the pool without it
	look := func(pass model.Passes, n *topology.Node, pool string) {
		if !pass.All() || pool == "" || closed[pool] {
			return
		}
		d.m.Run().Spend(1 + len(n.Taints)*len(other.Spec.Tolerations))
		if len(n.Taints) > 0 && !filter.Passes(n).Taints {
			open[pool] = true
		} else {
			closed[pool] = true
		}
	}
	for i, n := range d.m.Topology.Nodes {
		look(e.Nodes[i], n, d.pools.nodes[i])
	}
	for i, g := range d.m.Topology.Growth {
		look(e.Growth[i], g.Node, d.pools.growth[i])
	}
	names := []string{}
	names = append(names, lists.Where(sorting.Keys(open), func(name string) bool { return !closed[name] })...)
	return names
}

// nodeRules adds a row for each expression of nodeSelector and node affinity.
func (d *describing) nodeRules(w *workload.Workload, row *facts.Workload) {
	row.NodeRules = []facts.NodeRule{}
	for k, v := range w.SpecNode.Get("nodeSelector").Fields() {
		id := d.subject(about(w, w.File().FieldSpan(k, v)).as(w.File(), v))
		fact := facts.NodeRule{ID: id, Source: "nodeSelector", Hard: true, Key: k.Value, Operator: string(corev1.NodeSelectorOpIn), Values: []string{v.Value}}
		d.meet(&fact)
		row.NodeRules = append(row.NodeRules, fact)
	}
	alternative := -1
	eachNodeTerm(w, func(term *source.Node, hard bool) {
		alternative++
		for _, list := range []string{"matchExpressions", "matchFields"} {
			for _, e := range term.Get(list).Items() {
				fact := facts.NodeRule{
					ID: d.within(w, e), Source: "nodeAffinity", Hard: hard, Alternative: alternative, Key: e.Get("key").Text(), Operator: e.Get("operator").Text(), Values: []string{},
				}
				for _, v := range e.Get("values").Items() {
					fact.Values = append(fact.Values, v.Value)
				}
				if !slices.Contains(operators, fact.Operator) { // a variable, or rejected
					continue
				}
				d.meet(&fact)
				row.NodeRules = append(row.NodeRules, fact)
			}
		}
	})
}

// operators lists the valid node affinity operators.
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}

// expressions caches bounds on the number of nodes that meet an expression.
type expressions struct{ nodes map[string]span }

// meet sets the bounds on how many nodes meet an expression. The lower bound counts declared nodes.
// The upper bound also counts nodes that pools can add.
func (d *describing) meet(rule *facts.NodeRule) {
	if !d.topo {
		rule.NodesMax = facts.NoBound
		return
	}
	if !d.whole("workloads.node_rules.nodes") && !d.whole("workloads.node_rules.nodes_max") {
		return
	}
	known := model.KeepForNodes(d.m, func() *expressions { return &expressions{map[string]span{}} })
	id := fmt.Sprintf("%q %s %q", rule.Key, rule.Operator, rule.Values)
	n, ok := known.nodes[id]
	if !ok {
		asked := corev1.NodeSelectorRequirement{Key: rule.Key, Operator: corev1.NodeSelectorOperator(rule.Operator), Values: rule.Values}
		d.m.Run().Spend((len(d.m.Topology.Nodes) + len(d.m.Topology.Growth)) * (1 + len(rule.Values)))
		open := d.m.Topology.Uncertain(rule.Key)
		for _, node := range d.m.Topology.Nodes {
			switch {
			case open:
				n = n.plus(span{0, 1})
			case model.Meets(node, asked):
				n = n.plus(span{1, 1})
			}
		}
		named := rule.Key == corev1.LabelHostname || rule.Key == metav1.ObjectNameField
		grown := map[*topology.Pool]bool{} // the zones of a pool share its growth
		for _, g := range d.m.Topology.Growth {
			if !grown[g.Node.Pool] && (named || open || model.Meets(g.Node, asked)) {
				grown[g.Node.Pool] = true
				n.max = plus(n.max, g.Extra)
			}
		}
		known.nodes[id] = n
	}
	rule.Nodes, rule.NodesMax = n.min, n.max
}

// maxMatches limits the total number of workloads in the lists of all terms. The last list may
// exceed the limit.
const maxMatches = 2_000_000

// terms adds a row for each pod affinity term and each spread constraint.
func (d *describing) terms(w *workload.Workload, row *facts.Workload) {
	row.Terms = []facts.Term{}
	row.TermsKnown = !w.Refused() && !slices.ContainsFunc(w.Open, func(path string) bool {
		return path == "affinity" || strings.HasPrefix(path, "affinity.pod") || strings.HasPrefix(path, "topologySpreadConstraints")
	})
	usable := d.usable(w)
	for _, t := range d.m.Group(w).Terms {
		if !t.Declared() {
			continue
		}
		fact := facts.Term{
			ID: d.within(w, t.Node), Use: string(t.Use), Hard: t.Hard, Key: t.Key, Selector: t.Selector(), MatchesOwn: d.m.Peer(t, w, w).Outcome(),
			Matches: []int{}, MatchLabelKeys: append([]string{}, t.MatchKeys...), MismatchLabelKeys: append([]string{}, t.MismatchKeys...),
		}
		if t.Use == model.Spread {
			fact.MaxSkew, fact.MinDomains = int(t.Constraint.MaxSkew), t.MinDomains()
			fact.NodeAffinityPolicy, fact.NodeTaintsPolicy = policy(t.HonorsAffinity()), policy(t.HonorsTaints())
		}
		if d.whole("workloads.terms.domains") || d.whole("workloads.terms.domains_missing") {
			fact.Domains, fact.DomainsMissing = d.domains(usable, t.Key)
		}
		if d.whole("workloads.terms.matches") && d.matched < maxMatches {
			fact.Matches, fact.MatchesKnown = d.matches(w, t), true
			d.matched += len(fact.Matches)
		}
		row.Terms = append(row.Terms, fact)
	}
}

func policy(honors bool) string {
	if honors {
		return string(corev1.NodeInclusionPolicyHonor)
	}
	return string(corev1.NodeInclusionPolicyIgnore)
}

// keptDomains caches two numbers per topology key: the distinct values and the nodes without the
// key.
type keptDomains struct{ known map[carriedKey][2]int }

// domains counts the distinct values of a label key. It also counts the nodes without the key.
func (d *describing) domains(nodes []*topology.Node, key string) (values, missing int) {
	if len(nodes) == 0 {
		return 0, 0
	}
	kept := model.Keep(d.m, func() *keptDomains { return &keptDomains{map[carriedKey][2]int{}} })
	id := carriedKey{&nodes[0], len(nodes), key}
	if n, ok := kept.known[id]; ok {
		return n[0], n[1]
	}
	d.m.Run().Spend(len(nodes))
	seen := map[string]bool{}
	for _, n := range nodes {
		if value, ok := n.Labels[key]; ok {
			seen[value] = true
		} else {
			missing++
		}
	}
	kept.known[id] = [2]int{len(seen), missing}
	return len(seen), missing
}

// matches returns the workloads whose pods a term selects or may select.
func (d *describing) matches(w *workload.Workload, t *model.Term) []int {
	all := []int{}
	for _, o := range d.m.Others(t, w, true) {
		if i, known := d.rows[o]; known && !o.Copy && !o.Superseded {
			all = append(all, i)
		}
	}
	if i := d.rows[w]; d.m.Peer(t, w, w) != model.No {
		all = append(all, i)
	}
	d.m.Run().Spend(len(all))
	slices.Sort(all)
	return slices.Compact(all)
}

// guards adds a row for each disruption budget and each autoscaler of a workload.
func (d *describing) guards(w *workload.Workload, row *facts.Workload) {
	row.Budgets, row.Scalers = []facts.PodBudget{}, []facts.Scaler{}
	if d.j != nil {
		for _, x := range d.j.BudgetsOf(w) {
			fact := facts.PodBudget{
				ID: d.subject(budgetSubject(x.Object, x.Span())), Selects: diag.Always, Ref: x.String(), Name: x.Object.Name, Amount: amountOf(&x.Amount),
				AllowedMin: x.AllowedMin, AllowedMax: x.AllowedMax, UnhealthyPolicy: unhealthyPolicy(x.Budget),
			}
			if !x.SelectsAllOf(w) {
				fact.Selects = diag.Sometimes
			}
			row.Budgets = append(row.Budgets, fact)
		}
		for _, x := range d.j.PossibleBudgets(w) {
			_, written := x.Allowed(0) // the number of allowed disruptions is unknown
			fact := facts.PodBudget{
				ID: d.subject(budgetSubject(x.Object, x.Span())), Selects: diag.Unknown, Ref: x.String(), Name: x.Object.Name, Amount: amountOf(&written), AllowedMax: facts.NoBound,
				UnhealthyPolicy: unhealthyPolicy(x.Budget),
			}
			if x.Selects {
				fact.Selects = diag.Always
			}
			row.Budgets = append(row.Budgets, fact)
		}
	}
	if s := w.Scale; s != nil {
		row.Scalers = append(row.Scalers, facts.Scaler{
			ID: d.subject(budgetSubject(s.Object, s.MaxSpan)), Ref: s.Kind + " " + strings.TrimPrefix(s.Object.Namespace+"/"+s.Object.Name, "/"), Kind: s.Kind, Min: s.Min, Max: s.Max,
		})
	}
}

// unhealthyPolicy returns when a budget lets running pods be evicted that are not ready.
func unhealthyPolicy(x *workload.Budget) string {
	const byDefault = "IfHealthyBudget" // upstream's package of these names would add 70 KB to the program
	policy := x.Object.Root.At("spec", "unhealthyPodEvictionPolicy")
	switch text := policy.Text(); {
	case policy.IsNull():
		return byDefault
	case text == byDefault, text == "AlwaysAllow":
		return text
	}
	return string(diag.Unknown)
}

// budgetSubject returns a subject located at a workload's budget or autoscaler.
func budgetSubject(o *source.Object, at diag.Span) Subject {
	return Subject{Location: at}.in(o.ID()).withAccount(nil, noteOnly("")).as(o.File, o.Root)
}
