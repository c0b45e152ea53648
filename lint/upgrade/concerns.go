package upgrade

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// concern is a workload whose pods a drain of the pool may evict.
type concern struct {
	w *workload.Workload // in the declared model
	// stops is set if Pending pods may stop a drain, because of a budget or because machines migrate.
	stops bool
	// spared is the number of pods that do not have to be placed while a drain waits for a budget.
	spared int
	// several is set if a budget selects other workloads, too, or if there are several budgets.
	several bool
}

// about adds a reason about a workload why the answer is not known.
func (p *plan) about(w *workload.Workload, budget, format string, args ...any) {
	p.open(p.first(w), format, args...)
	why := &p.why[len(p.why)-1]
	why.Workload, why.Budget = w.String(), budget
	why.Location = w.Object.NameSpan()
}

// obstacles finds what keeps the answer from being always, whatever the usable nodes are.
func (p *plan) obstacles() {
	switch spec := p.pool.Spec; {
	case p.pool.Max > p.pool.Count:
		p.open("", "the pool may grow while it is upgraded: its max is above its count")
	case len(spec.Reserved) > 0:
		p.open("", "other pods run on its nodes (reserved), and their budgets are not known")
	case spec.Unschedulable || slices.ContainsFunc(spec.Taints, func(t corev1.Taint) bool { return topology.NotInService(t.Key) }):
		p.open("", "its nodes are not in service")
	}
	if running := p.declared.RunningOnes(); len(running) > 0 {
		p.open("", "%s runs on %s: pods that are in place already are not followed", running[0], running[0].Spec.NodeName)
	}
	if open := p.declared.NotModeled(); len(open) > 0 {
		w := open[0]
		text := message.Reason(cmp.Or(p.declared.Group(w).Unknown, model.Reason{Cause: model.ByCount}))
		p.why = append(p.why, diag.UpgradeReason{Workload: w.String(), Text: "it is not known where its pods run: " + text, Location: w.Object.NameSpan()})
	}
	for _, c := range p.asked {
		p.obstacle(c)
	}
}

// obstacle finds what keeps the answer about a workload from being always.
func (p *plan) obstacle(c *concern) {
	w := c.w
	pin := p.declared.PinOf(w)
	byName := func(key string) bool {
		return key == corev1.LabelHostname || slices.Contains(p.pool.Spec.NameLabels, key) || key == metadataName
	}
	if w.Finite() && !w.Bare() { // its pods may wait, and end
		p.budgets(c)
		return
	}
	switch {
	case w.Bare():
		p.about(w, "", "no controller creates the pod again")
		return
	case w.Repeated:
		p.about(w, "", "it is declared twice, differently")
		return
	case w.Operator != "":
		p.about(w, "", "the operator %s may protect its pods by further budgets", w.Operator)
		return
	case w.Spec.NodeName != "" || slices.ContainsFunc(append(sizing.NodeKeys(w), fieldKeys(w)...), byName):
		p.about(w, "", "its pods name their nodes, and new nodes have other names")
		return
	case certificate.Loss{Meaning: certificate.Drained}.Tolerates(w):
		p.about(w, "", "%s", message.Reason(model.Reason{Cause: model.Returns}))
		return
	case w.Pin != "" && p.s.AnyZone && len(p.nodes) > 1 ||
		pin.Key == corev1.LabelHostname || pin.Vague || pin.Open != "" || w.OrdinalReaches != nil || len(w.Reaches)+len(w.Early)+len(w.OncePod) > 0 || w.OpenOnce != "" || w.OpenVolume != "" || w.SharesClaim,
		cmp.Or(w.Attached, diag.Never) != diag.Never && (w.Scale != nil || w.Count.N > 1):
		p.about(w, "", fixed)
		return
	case w.Contested != nil || w.TightQuota != "" || len(w.Quotas) > 0:
		p.about(w, "", "a ResourceQuota may keep new pods from being created")
		return
	case p.declared.Eligible(w).Growable > 0:
		p.about(w, "", "another pool that its pods may use can grow")
		return
	}
	if len(p.declared.Group(w).HardAffinity()) > 0 {
		p.about(w, "", historic)
		return
	}
	p.budgets(c)
	if w.Kind.VM {
		// Machines migrate when they are evicted.
		strategy, _ := c.w.EvictionStrategy()
		switch {
		case strategy != "LiveMigrate":
			p.about(c.w, "", "it is not known that its machines migrate or start again: evictionStrategy is not LiveMigrate")
		case c.stops:
			p.about(c.w, p.judge.BudgetsOf(c.w)[0].String(), "the budget selects machines, for which KubeVirt makes budgets")
		}
		c.stops, c.spared = true, 0
	}
}

// fixed is the reason why volumes leave the answer open.
const fixed = "its volumes may keep the pods on some nodes"

// historic is the reason why rules that are not hereditary leave the answer open.
const historic = "required affinity or a spread constraint makes the answer depend on where pods were before"

const metadataName = "metadata.name"

// fieldKeys returns the fields of nodes that the pods of a workload select.
func fieldKeys(w *workload.Workload) (keys []string) {
	if a := w.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range t.MatchFields {
				keys = append(keys, e.Key)
			}
		}
	}
	return keys
}

// budgets finds out how the budgets of a workload may stop a drain.
func (p *plan) budgets(c *concern) {
	w := c.w
	for _, b := range p.judge.PossibleBudgets(w) {
		if b.Alternative {
			continue
		}
		name := ""
		if b.Selects {
			name = b.String()
		}
		p.about(w, name, "%s", message.Reason(b.Reason()))
		return
	}
	all := p.judge.BudgetsOf(w)
	c.stops, c.several = len(all) > 0, len(all) > 1
	for i := range all {
		b := &all[i]
		for j := range all[:i] {
			if b.Shares(&all[j], w) {
				p.about(w, b.String(), "another budget selects the same pods, and the API server evicts no pod that two budgets select")
				return
			}
		}
		switch {
		case b.Repeated:
			p.about(w, b.String(), "it is not known what the budget allows")
			return
		case b.AllowedMin == 0 && b.WhileSmall:
			p.about(w, b.String(), "the budget allows no eviction while there are few pods")
			return
		case b.Unscaled != nil && w.Finite():
			p.about(w, b.String(), "the budget allows no eviction of its pods until they end")
			return
		case b.AllowedMin == 0:
			p.about(w, b.String(), "the budget may never allow an eviction")
			return
		case w.Finite():
			p.about(w, b.String(), "the budget selects pods that end")
			return
		}
		c.several = c.several || len(b.Workloads) > 1 || !b.SelectsAllOf(w)
		c.spared = b.AllowedMin
		for _, o := range b.Workloads {
			if g := p.declared.Group(o); o != w && (!g.Placeable() || o.Kind.PerNode() || o.Finite() || o.Bare()) {
				p.about(w, b.String(), "the budget also selects pods of %s", o)
				return
			}
		}
	}
	if c.several {
		c.spared = 0
	}
}

// named reports whether a required rule of a group has a condition on labels that differ between the
// pods of a workload.
func named(m *model.Model, group []*workload.Workload) bool {
	keys := lists.Gather(group, (*workload.Workload).PerPod)
	return slices.ContainsFunc(group, func(w *workload.Workload) bool {
		return slices.ContainsFunc(slices.Collect(m.Group(w).HardTerms()), func(t *model.Term) bool { return slices.ContainsFunc(keys, t.Asks) })
	})
}

// wide returns the topology keys of the required anti-affinity of a group that concerns domains of
// several nodes, and whether such rules are simple: each workload has at most one, which selects its own
// pods alone.
func wide(m *model.Model, group []*workload.Workload) (found, simple bool) {
	simple = true
	for _, w := range group {
		n := 0
		for t := range m.Group(w).Hard(model.AntiAffinity) {
			if t.Key == corev1.LabelHostname {
				continue
			}
			n++
			found = true
			own := m.Self(t, w) == model.Yes && len(m.Others(t, w, true)) == 0 && t.Claim == ""
			simple = simple && own && n == 1
		}
	}
	return found, simple
}

// everyState decides every set of usable nodes.
func (p *plan) everyState() {
	if len(p.asked) == 0 {
		return
	}
	base := make(layout, len(p.nodes))
	for z, n := range p.nodes {
		base[z] = max(1, n)
	}
	m, err := p.modelOf(base, p.set)
	if err != nil {
		p.open("", "%v", err)
		return
	}
	nodes := p.nodes
	if zonal := len(nodes) > 1 && sizing.ZonesMatter(m, p.pool, m.Workloads); !zonal {
		nodes = layout{nodes.total()}
	}
	all, ok := layoutsOf(nodes, p.s)
	if !ok {
		p.open("", "there are more than %d sets of usable nodes", mostLayouts)
		return
	}
	for _, at := range all.ends {
		p.state(p.spread(at), true)
		if len(p.why) > 0 {
			return
		}
	}
	for _, at := range all.during {
		p.state(p.spread(at), false)
		if len(p.why) > 0 {
			return
		}
	}
}

// spread returns the numbers of nodes by zone for numbers that do not distinguish zones.
func (p *plan) spread(at layout) layout {
	if len(at) == len(p.nodes) {
		return at
	}
	out, left := slices.Clone(p.nodes), at.total()-p.nodes.total()
	for z := 0; left != 0; z = (z + 1) % len(out) {
		switch {
		case left > 0:
			out[z]++
			left--
		case out[z] > 0:
			out[z]--
			left++
		}
	}
	return out
}

// state decides one set of usable nodes.
func (p *plan) state(at layout, end bool) {
	var objects []*source.Object
	for _, c := range p.asked {
		objects = append(objects, c.w.Object)
		if !c.stops {
			continue
		}
		for _, b := range p.judge.BudgetsOf(c.w) {
			for _, o := range b.Workloads {
				objects = append(objects, o.Object)
			}
		}
	}
	rows, m, why := p.fits(at, nil, objects)
	if why != "" {
		p.open("", "%s", why)
		return
	}
	for _, c := range p.asked {
		if p.aboutOne(c, at, end, m, rows) {
			return
		}
	}
}

// aboutOne decides about one workload on a set of usable nodes. It reports whether the step budget is
// spent.
func (p *plan) aboutOne(c *concern, at layout, end bool, m *model.Model, rows map[*source.Object]row) (spent bool) {
	r := rows[c.w.Object]
	group := r.group
	if len(group) == 0 {
		group = m.Workloads
	}
	where := p.described(at, end)
	if c.w.Finite() || r.roomy && !c.several {
		return false // they may wait because they end, or they never wait
	}
	pinned := p.declared.PinOf(c.w).Key != ""
	if !end && !c.stops { // its pods hold no drain up, wherever they are
		if (!r.placed || pinned || !search.Hereditary(m, group)) && !slices.Contains(p.waits, c.w.String()) {
			p.waits = append(p.waits, c.w.String())
		}
		return false
	}
	if !r.roomy && pinned {
		p.about(c.w, "", fixed)
		return false
	}
	if !r.roomy && !search.Hereditary(m, group) {
		p.about(c.w, "", historic)
		return false
	}
	if end && !r.placed {
		p.about(c.w, "", "%s, %s", where, r.why)
		return false
	}
	if end {
		return false
	}
	budget := ""
	if all := p.judge.BudgetsOf(c.w); len(all) > 0 {
		budget = all[0].String()
	}
	far, simple := wide(m, group)
	switch k := min(p.pool.Count, p.s.Surge+p.s.Unavailable); {
	case r.roomy:
	case named(m, group):
		p.about(c.w, budget, "required anti-affinity distinguishes pods of one workload")
		return false
	case far && (c.w.Kind.VM || c.several):
		p.about(c.w, budget, "required anti-affinity by a larger domain than the node may keep pods away while others wait for the same budget")
		return false
	case far && k > 1 && !simple:
		p.about(c.w, budget, "pods on several drained nodes may keep each other away by required anti-affinity")
		return false
	case far && p.growable(group):
		p.about(c.w, budget, "pods on nodes that another pool may add may keep others away")
		return false
	}
	if c.several { // pods of the others may be the ones that wait
		for _, b := range p.judge.BudgetsOf(c.w) {
			for _, o := range b.Workloads {
				other := rows[o.Object]
				switch {
				case other.roomy:
				case !search.Hereditary(m, other.group):
					p.about(c.w, b.String(), "the budget also selects %s, which has required affinity or a spread constraint", o)
					return false
				case !other.placed:
					p.about(c.w, b.String(), "%s, the budget also selects %s: %s", where, o, other.why)
					return false
				}
			}
		}
	}
	if !r.placed && c.spared > 0 && !far {
		less, _, why := p.fits(at, map[*source.Object]int{c.w.Object: c.spared}, []*source.Object{c.w.Object})
		if why != "" {
			p.open("", "%s", why)
			return true
		}
		if less[c.w.Object].placed {
			if !slices.Contains(p.waits, c.w.String()) {
				p.waits = append(p.waits, c.w.String())
			}
			return false
		}
	}
	if !r.placed {
		p.about(c.w, budget, "%s, %s", where, r.why)
		return false
	}
	if c.w.Kind.VM && !p.migrates(at, c.w.Object) {
		p.about(c.w, "", "%s, it is not known that its machines can migrate", where)
	}
	return false
}

// growable reports whether pods of a group may be on nodes that pools add.
func (p *plan) growable(group []*workload.Workload) bool {
	return slices.ContainsFunc(group, func(w *workload.Workload) bool {
		o := p.of[w.Object]
		return o != nil && p.declared.Eligible(o).Growable > 0
	})
}
