package upgrade

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Settings say how a platform replaces the nodes of a pool.
type Settings struct {
	// Surge is the number of extra nodes during the upgrade, and Unavailable the number of nodes that may
	// be missing. At most their sum is drained at once.
	Surge, Unavailable int
	// AnyZone is set if a new node may be in another zone than the node that it replaces.
	AnyZone bool
	// CordonAll is set if old nodes take no pods once the upgrade has begun.
	CordonAll bool
}

// SettingsOf returns what the node file says about upgrades of a pool. The default is a surge of one
// node.
func SettingsOf(p *topology.Pool) Settings {
	u := p.Spec.Upgrade
	if u == nil {
		return Settings{Surge: 1}
	}
	return Settings{
		Surge: u.Surge.Of(p.Count), Unavailable: u.Unavailable.Of(p.Count),
		AnyZone: u.Zone == topology.ZoneAny, CordonAll: u.Cordon == topology.CordonAll,
	}
}

// mostSteps limits the steps of all decisions about a pool. It is meant for 20 CPU-seconds.
const mostSteps = 130_000_000

// Cluster is what a question is about.
type Cluster struct {
	Topology *topology.Topology
	// Set holds the workloads with the numbers of pods of the input. AtMin counts autoscaled workloads
	// with their least number of pods instead of the greatest.
	Set   *workload.Set
	AtMin bool
	// Factor multiplies the steps of all decisions, and Scale sets the budgets of a model.
	Factor float64
	Scale  func(*model.Model)
}

// plan is the state of one question about a pool.
type plan struct {
	Cluster
	s    Settings
	pool *topology.Pool
	set  *workload.Set // with the numbers of pods that are asked about
	// declared is the model of the declared nodes and the numbers of pods of the input, about which
	// judge answers questions. Workloads of other models are found by their objects.
	declared *model.Model
	judge    *disruption.Judge
	of       map[*source.Object]*workload.Workload
	nodes    layout // of the pool as declared
	asked    []*concern
	steps    int // that are left
	states   int // decided sets of usable nodes
	stops    []diag.UpgradeReason
	why      []diag.UpgradeReason
	waits    []string
}

// Of decides whether all nodes of a pool can be replaced. Pools of topologies for which Sized has no
// answer are unknown.
func Of(c *Cluster, pool *topology.Pool, s Settings) *diag.Upgrade {
	out := &diag.Upgrade{
		Pool: pool.Name, Nodes: pool.Count, Surge: s.Surge, Unavailable: s.Unavailable, AtOnce: min(pool.Count, s.Surge+s.Unavailable),
		Zone: topology.ZoneSame, Cordon: topology.CordonDrained, Verdict: string(diag.None),
		Why: []diag.UpgradeReason{}, Waits: []string{}, Suffices: []string{}, Notes: []string{},
	}
	if s.AnyZone {
		out.Zone = topology.ZoneAny
	}
	if s.CordonAll {
		out.Cordon = topology.CordonAll
	}
	if pool.Count == 0 && pool.Max == 0 {
		return out
	}
	p := &plan{Cluster: *c, s: s, pool: pool, set: sizing.AtSize(c.Set, c.AtMin), of: map[*source.Object]*workload.Workload{}, steps: int(mostSteps * c.Factor)}
	p.declared = sched.New(c.Set, c.Topology)
	c.Scale(p.declared)
	p.judge = disruption.New(p.declared, c.Set, search.Options{})
	for _, w := range p.declared.Workloads {
		p.of[w.Object] = w
	}
	p.nodes = declaredNodes(pool)
	p.decide()
	out.Workloads, out.States = len(p.asked), p.states
	for _, c := range p.asked {
		out.Asked = append(out.Asked, c.w.String())
	}
	switch {
	case len(p.stops) > 0:
		out.Verdict, out.Why = string(diag.Never), append(out.Why, p.stops...)
	case len(p.why) > 0:
		out.Verdict, out.Why = string(diag.Unknown), append(out.Why, p.why...)
	default:
		out.Verdict, out.Waits = string(diag.Always), append(out.Waits, p.waits...)
	}
	return out
}

// declaredNodes returns the declared number of nodes of a pool in each zone.
func declaredNodes(p *topology.Pool) layout {
	if p.Spec.Zones == nil {
		return layout{p.Count}
	}
	var all layout
	for _, zone := range p.ZoneNames() {
		all = append(all, p.Spec.Zones[zone])
	}
	return all
}

// decide collects what stops the upgrade and what is not known.
func (p *plan) decide() {
	if !p.judge.Prepare() {
		p.open("", "the step budget does not allow an answer")
		return
	}
	for _, w := range p.declared.Workloads {
		g := p.declared.Group(w)
		if !g.Placeable() || w.Kind.PerNode() || w.Scale == nil && w.Count.N == 0 {
			continue
		}
		if may, _ := p.here(w); may {
			p.asked = append(p.asked, &concern{w: w})
		}
	}
	p.blocked()
	if len(p.stops) > 0 {
		return
	}
	if !p.sizable() {
		p.open("", "the nodes of a pool may differ from each other")
		return
	}
	p.squeezed()
	if len(p.stops) > 0 {
		return
	}
	if p.obstacles(); len(p.why) == 0 {
		p.everyState()
	}
}

// open adds a reason why the answer is not known. The node is one that may stop, or "".
func (p *plan) open(node, format string, args ...any) {
	p.why = append(p.why, diag.UpgradeReason{Node: node, Text: fmt.Sprintf(format, args...)})
}

// sizable reports whether pools can have other numbers of nodes, because their nodes are alike.
func (p *plan) sizable() bool {
	return !slices.ContainsFunc(p.Topology.Pools, func(o *topology.Pool) bool { return o.Mixed })
}
