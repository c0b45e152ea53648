package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// here reports whether pods of a workload may be on declared nodes of the pool, and whether they may be
// on other nodes or on nodes that pools add.
func (p *plan) here(w *workload.Workload) (may, elsewhere bool) {
	e := p.declared.Eligible(w)
	for n, node := range p.declared.Topology.Nodes {
		if e.Nodes[n].All() {
			in := node.Pool != nil && node.Pool.Name == p.pool.Name
			may, elsewhere = may || in, elsewhere || !in
		}
	}
	for i, g := range p.declared.Topology.Growth {
		if e.Growth[i].All() && (g.Node.Pool == nil || g.Node.Pool.Name != p.pool.Name) {
			elsewhere = true
		}
	}
	return may, elsewhere
}

// first returns the name of the first node of the pool that takes pods of a workload.
func (p *plan) first(w *workload.Workload) string {
	e := p.declared.Eligible(w)
	for n, node := range p.declared.Topology.Nodes {
		if e.Nodes[n].All() && node.Pool != nil && node.Pool.Name == p.pool.Name {
			return node.Name
		}
	}
	return ""
}

// evicted reports whether a workload certainly has pods and a drain evicts them.
func evicted(m *model.Model, w *workload.Workload) bool {
	return m.Group(w).Placeable() && !w.Kind.PerNode() && !w.Finite() && !w.Bare() && !w.Elsewhere && !w.Repeated && model.Certain(w) > 0
}

// blocked finds workloads whose pods are on the pool and never leave it: a budget allows no eviction,
// or a machine that has to migrate cannot.
func (p *plan) blocked() {
	var all []*workload.Workload
	reasons, partly := map[*workload.Workload]diag.UpgradeReason{}, map[*workload.Workload]bool{}
	for _, w := range p.declared.Workloads {
		if !evicted(p.declared, w) || !p.certain(w) {
			continue
		}
		why := diag.UpgradeReason{Workload: w.String(), Node: p.first(w)}
		p.judge.Ask(w, func() {
			if d := p.judge.Drain(w); d.Answer == diag.Never && len(d.Budgets) > 0 && d.Worst == nil {
				b := &d.Budgets[0]
				partly[w] = slices.ContainsFunc(d.Budgets, func(b disruption.Budget) bool { return !b.SelectsAllOf(w) })
				why.Budget, why.Location = b.String(), b.Object.NameSpan()
				why.Text = "the budget never allows an eviction while all pods run"
				if len(d.Budgets) > 1 {
					why.Text = fmt.Sprintf("%s selects the same pods, and the API server evicts no pod that two budgets select", d.Budgets[1].String())
				}
				return
			}
			if m := p.judge.Migration(w); m.Answer == diag.Never && m.Evicts && m.Device != nil {
				why.Text = "a drain waits for the machine to migrate, and a device keeps it on its node"
			}
		})
		if why.Text != "" {
			all, reasons[w] = append(all, w), why
		}
	}
	if len(all) == 0 {
		return
	}
	d := search.Decide(p.declared, search.Options{Only: all})
	for i := range d.Workloads {
		if x := &d.Workloads[i]; reasons[x.Workload].Text != "" && x.MinPlaced > 0 && (x.MinPlaced == x.Pods || !partly[x.Workload]) {
			p.stops = append(p.stops, reasons[x.Workload])
		}
	}
	slices.SortFunc(p.stops, func(a, b diag.UpgradeReason) int { return strings.Compare(a.Workload, b.Workload) })
}

// certain reports whether some pod of a workload is on the pool while all its pods run: they may run
// nowhere else, or other nodes have no room for all of them.
func (p *plan) certain(w *workload.Workload) bool {
	may, elsewhere := p.here(w)
	switch {
	case !may || !elsewhere:
		return may
	case p.declared.Eligible(w).Growable > 0 || len(p.judge.BudgetsOf(w)) == 0 || !search.Hereditary(p.declared, []*workload.Workload{w}) || !p.sizable():
		return false
	}
	c, set := *w, *p.Set
	c.Scale, c.Count.N = nil, model.Certain(w)
	set.Workloads = []*workload.Workload{&c}
	m, err := p.modelOf(make(layout, len(p.nodes)), &set)
	if err != nil {
		return false
	}
	verdict := search.Decide(m, search.Options{}).Verdict
	return p.spend(m) && len(m.Run().Refused) == 0 && verdict == diag.Never
}

// kept returns how many pods of a workload run at any time of an upgrade: those that budgets do not
// let go, and all machines that have to migrate.
func (p *plan) kept(w *workload.Workload) int {
	if !evicted(p.declared, w) {
		return 0
	}
	n, spared := model.Certain(w), disruption.Unbounded
	for _, b := range p.judge.BudgetsOf(w) {
		if b.SelectsAllOf(w) && len(b.Workloads) == 1 && !b.Repeated {
			spared = min(spared, b.AllowedMax)
		}
	}
	if strategy, _ := w.EvictionStrategy(); strategy == "LiveMigrate" {
		spared = 0
	}
	return max(0, n-spared)
}

// squeezed finds out whether the pods that always run do not fit on the nodes that exist when the
// first old node is gone (C14). Nodes that pools may add leave it open.
func (p *plan) squeezed() {
	if p.Topology.Elastic() || p.pool.Count == 0 {
		return
	}
	less, set := map[*source.Object]int{}, *p.Set
	set.Workloads = nil
	var names []string
	for _, w := range p.declared.Workloads {
		kept := p.kept(w)
		preempted := func(o *workload.Workload) bool { return o.MayPreempt(w) }
		if kept == 0 || !search.Hereditary(p.declared, []*workload.Workload{w}) || slices.ContainsFunc(p.declared.Workloads, preempted) {
			continue
		}
		c := *w
		c.Scale, c.Count.N, c.Count.Known = nil, kept, true
		set.Workloads = append(set.Workloads, &c)
		less[w.Object] = kept
		if may, _ := p.here(w); may {
			names = append(names, w.String())
		}
	}
	all, ok := layoutsOf(p.nodes, p.s)
	if len(names) == 0 || !ok || len(all.most) == 0 {
		return
	}
	never := func(at layout) (never, known bool) {
		m, err := p.modelOf(at, &set)
		if err != nil {
			return false, false
		}
		verdict := diag.Never
		if !m.Topology.Empty() {
			verdict = search.Decide(m, search.Options{}).Verdict
		}
		p.states++
		return verdict == diag.Never, p.spend(m) && len(m.Run().Refused) == 0
	}
	for _, at := range all.most {
		if never, known := never(at); !never || !known {
			return
		}
	}
	if never, known := never(p.nodes); never || !known { // not even before the upgrade
		return
	}
	slices.Sort(names)
	text := podsOf(less) + " on the nodes that exist once an old one is gone"
	if len(names) == 1 {
		p.stops = append(p.stops, diag.UpgradeReason{Workload: names[0], Text: text})
		return
	}
	more := ""
	if len(names) > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	p.stops = append(p.stops, diag.UpgradeReason{Text: text + ": " + strings.Join(names, ", ") + more})
}

// podsOf says that pods, of which there are the given numbers, do not fit.
func podsOf(all map[*source.Object]int) string {
	n := 0
	for _, pods := range all {
		n += pods
	}
	if n == 1 {
		return "1 pod that budgets and live migration keep running does not fit"
	}
	return fmt.Sprintf("%d pods that budgets and live migration keep running do not fit", n)
}
