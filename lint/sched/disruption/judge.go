package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Judge answers questions about the workloads in one model. Each embedded type answers one kind
// of question, and all of them use the same shared state.
type Judge struct {
	*shared
	updates
	evictions
	migrations
	scaling
	fixes
	trials
	views
}

// Crowded reports whether a set may have too many workloads or pods to judge together.
func Crowded(set *workload.Set) bool {
	pods := 0
	for _, w := range set.Workloads {
		pods += max(1, w.Count.N)
	}
	return len(set.Workloads) > maxTogether || pods > maxPods
}

// shared holds the groups of workloads and the cached results.
type shared struct {
	m     *model.Model
	set   *workload.Set
	steps int
	// ruled maps each workload to the workloads that hard rules connect with it. contending adds
	// the workloads that may fill a node together with it. scaled is like contending, but at
	// autoscaler maximums.
	ruled              map[*workload.Workload][]*workload.Workload
	contending, scaled contention
	running            []*workload.Workload
	budgets            []Budget
	selecting          map[*workload.Workload][]int // for each workload, the indices of the budgets that select its pods
	selectors          map[*workload.Budget]model.PodSelector
	objects            [2]map[[4]string]bool // deployed workloads, and workloads that may be deployed
	atMaximum          *shared               // with all pools at their maximum, computed on demand
	withOneMoreOfEach  *shared               // with one more node of each kind, computed on demand
	unready            bool                  // set if the budget ran out in Prepare
	stops              int                   // the value of Run().Stops at the start of the question
	settled            **daemonless          // computed on demand
	bySize             map[string]*shared
	chosen             map[string]*choice
	choosing           map[*workload.Workload]choices
	highest            map[*workload.Workload]int // the most pods that fit by a workload's own rules
	lost               map[string][]answer
	stages             map[string]*stage
	drained            []Survival // reused buffer for Drain
	nodeLoss           *loss      // the last loss of a single node
	advice             *Advice
	// fittings caches what fitting returns.
	fittings map[groupKey]fitting
	// parts caches each group's budget share per workload.
	parts map[groupKey]int
	// described caches group descriptions (see alike). digests caches group manifest hashes (see
	// question).
	described, digests map[groupKey]string
	// assemblies caches large groups. doubtsOf caches the doubts about their rules.
	assemblies map[groupKey]*assembly
	crowds     map[groupKey]*crowd
	// placed is the decision about all workloads, or nil. unaffected caches by loss what lasting
	// returns.
	placed     *certificate.Decision
	unaffected map[string][]int
	// preempted caches by PriorityClass what mayBePreempted returns.
	preempted map[string]bool
	doubtsOf  map[groupKey]*doubts
	// tried holds the groups for which fitting was called.
	tried  map[groupKey]bool
	shapes map[sized]string
	// strategies caches update strategies by workload and pod count.
	strategies map[sized]workload.Rollout
}

// contention maps each workload to its group, which includes all workloads that may fill a node
// together with it. The large map marks groups with too many members or pods for a scene.
type contention struct {
	groups map[*workload.Workload][]*workload.Workload
	large  map[groupKey]bool
}

// sized identifies a workload with a certain pod count.
type sized struct {
	w    *workload.Workload
	pods int
}

// strategy returns a workload's update strategy for the given pod count. It is cached because
// many questions need it.
func (j *shared) strategy(w *workload.Workload, pods int) workload.Rollout {
	return lazy.Cached(j.strategies, sized{w, pods}, func() workload.Rollout { return w.Rollout(pods) })
}

// groupKey identifies a group by the address and length of its list.
type groupKey struct {
	first **workload.Workload
	n     int
}

func keyOf(group []*workload.Workload) groupKey { return groupKey{&group[0], len(group)} }

// defaultSteps is the maximum number of filters that one search can apply. The question's step
// budget limits the search as well.
const defaultSteps = 100_000

// Limits on the number of workloads and pods that are judged together.
const (
	maxTogether = limits.Rivals
	maxPods     = limits.RivalPods
	maxRunning  = 300
)

// New returns a judge for a model. The set must be the one that the model was built from, and the
// options apply to each decision. Changes begin when all pods run, so all volumes are made.
func New(m *model.Model, set *workload.Set, o search.Options) *Judge {
	j := newShared(m.Started(), set, o)
	return &Judge{j, updates{shared: j}, evictions{j}, migrations{j}, scaling{j}, fixes{j}, trials{j}, views{j}}
}

// Use gives the judge a decision about all workloads of its model, whose proofs settle losses.
func (j *Judge) Use(d *certificate.Decision) { j.placed = d }

func newShared(m *model.Model, set *workload.Set, o search.Options) *shared {
	j := &shared{
		m: m, set: set, steps: defaultSteps, advice: NewAdvice(), shapes: map[sized]string{}, strategies: map[sized]workload.Rollout{},
		fittings: map[groupKey]fitting{}, tried: map[groupKey]bool{}, parts: map[groupKey]int{}, described: map[groupKey]string{},
		digests: map[groupKey]string{}, assemblies: map[groupKey]*assembly{}, crowds: map[groupKey]*crowd{}, unaffected: map[string][]int{}, preempted: map[string]bool{}, doubtsOf: map[groupKey]*doubts{},
		lost: map[string][]answer{}, stages: map[string]*stage{}, bySize: map[string]*shared{}, chosen: map[string]*choice{}, choosing: map[*workload.Workload]choices{}, highest: map[*workload.Workload]int{}, selectors: map[*workload.Budget]model.PodSelector{},
	}
	if o.Steps > 0 {
		j.steps = o.Steps
	}
	j.running = m.RunningOnes()
	return j
}

// other returns the shared state for another model, with the same step limit.
func (j *shared) other(m *model.Model) *shared {
	return newShared(m, j.set, search.Options{Steps: j.steps})
}

// daemonless holds the judge for the nodes as the pods of DaemonSets leave them.
type daemonless struct {
	*shared
	// of maps the workloads to those of the judge.
	of map[*workload.Workload]*workload.Workload
}

// withoutDaemonSets returns a judge for the nodes as the pods of DaemonSets leave them, or nil. While
// other workloads change, these pods stay where they are (C16). Nodes that join would bring more of
// them, and a budget that may select them counts them.
func (j *shared) withoutDaemonSets() *daemonless {
	if j.m.Topology.Elastic() {
		return nil
	}
	if j.settled != nil {
		return *j.settled
	}
	j.settled = new(*daemonless)
	first := j.m.DaemonSetsFirst()
	if first == nil {
		return nil
	}
	for _, b := range j.Budgets() {
		for _, w := range first.LeftOut {
			if _, selected := j.selects(b.Budget, w); selected != model.No && w.Object.Namespace == b.Object.Namespace {
				return nil
			}
		}
	}
	s := &daemonless{j.other(first.Model), map[*workload.Workload]*workload.Workload{}}
	for _, w := range s.m.Workloads {
		if takesPart(s.m.Group(w)) { // its volumes may be on nodes that DaemonSets fill
			s.of[first.Original(w)] = w
		}
	}
	*j.settled = s
	return s
}

// half calls f with half of the steps that the question has left, so that the rest can be used if f
// decides nothing. It reports whether f returned.
func (j *shared) half(f func()) bool { return j.m.Run().Within(j.m.Run().Left()/2, f) }

// options returns search options with the given step limit.
func (j *shared) options(steps int) search.Options { return search.Options{Steps: steps} }

// Judged reports whether a workload can be judged.
func (j *shared) Judged(w *workload.Workload) bool {
	return !j.unready && !j.m.Topology.Empty() && takesPart(j.m.Group(w)) && len(j.running) <= maxRunning && (w.OrdinalReaches == nil || !j.m.PinOf(w).Vague)
}

// takesPart reports whether a group's pods are permanent and modeled.
func takesPart(g *model.Group) bool {
	return g.Placeable() && !g.Finite() && (g.Kind.PerNode() || g.Count.N > 0 || g.Scale != nil)
}

// most returns the maximum number of pods that a workload can have.
func most(w *workload.Workload) int {
	_, n := w.Pods()
	return n
}

// groups builds two kinds of groups for the given pod counts: workloads connected by hard rules,
// and the same workloads plus those that contend for their nodes.
func (j *shared) groups(pods func(*workload.Workload) int) (ruled map[*workload.Workload][]*workload.Workload, contending contention) {
	extra := map[*workload.Workload]int{}
	if len(j.m.Workloads) == 1 && takesPart(j.m.Group(j.m.Workloads[0])) { // no other workload exists
		ruled = j.grouped([][]*workload.Workload{j.m.Workloads})
		return ruled, contention{groups: ruled}
	}
	for _, w := range j.m.Workloads {
		switch n := pods(w); {
		case !takesPart(j.m.Group(w)):
		case w.Kind.PerNode():
			extra[w] = j.beyond(w, 1)
		default:
			extra[w] = max(0, n-w.Count.N) + max(1, j.beyond(w, n))
		}
	}
	byRules, byRoom := search.Components(j.m, extra)
	ruled = j.grouped(byRules)
	contending = contention{j.grouped(byRoom), map[groupKey]bool{}}
	for _, group := range byRoom {
		pods := 0
		for _, w := range group {
			pods += model.Certain(w)
		}
		if len(group) > maxTogether || pods > maxPods {
			contending.large[keyOf(group)] = true
		}
	}
	return ruled, contending
}

// grouped maps each workload that takes part in decisions to its group.
func (j *shared) grouped(groups [][]*workload.Workload) map[*workload.Workload][]*workload.Workload {
	by := map[*workload.Workload][]*workload.Workload{}
	for i := range groups {
		groups[i] = slices.DeleteFunc(groups[i], func(w *workload.Workload) bool { return !takesPart(j.m.Group(w)) })
		for _, w := range groups[i] {
			by[w] = groups[i]
		}
	}
	return by
}

// beyond returns how many extra pods an update can create for a workload, or for a DaemonSet on one
// node.
func (j *shared) beyond(w *workload.Workload, pods int) int {
	how := j.strategy(w, pods)
	if how.Way == workload.PerNode {
		return 1
	}
	return how.Surge
}

// Prepare computes the data that all questions need, mainly the groups, so that the first
// question does not pay for it. If the budget runs out it returns false, and the judge answers no
// questions.
func (j *shared) Prepare() bool {
	if j.m.Topology.Empty() || len(j.m.Workloads) == 0 {
		return true
	}
	w := j.m.Workloads[0]
	j.unready = !j.m.Run().Within(j.m.Altogether(), func() {
		j.m.NotModeled()
		j.Budgets()
		j.group(w, true)
		j.atMost()
		if j.groupAtAnySize(w, most(w)); j.larger() != nil {
			j.larger().group(w, true)
		}
	})
	return !j.unready
}

// Abandon makes the judge stop answering questions.
func (j *shared) Abandon() { j.unready = true }

// Ask calls f to answer a question about one workload within the workload's share of its group's
// budget. It reports whether f finished within that share.
func (j *shared) Ask(w *workload.Workload, f func()) bool {
	j.stops = j.m.Run().Stops
	group := j.group(w, true)
	return j.m.Run().Within(askedSteps*j.each(group), func() {
		if !j.reasonNoTrialDecides(w).Given() {
			j.m.Run().Spend(stepsPerMember * len(group))
		}
		f()
	})
}

// askedSteps multiplies a workload's budget for a question about it, because searches of small scenes need
// more than its share. model.ChangeBudget bounds the sum of all questions.
const askedSteps = 16

// stepsPerMember is the step cost per group member of asking a question. It pays for copying the
// member, describing it and placing it on the nodes.
const stepsPerMember = 20

// each returns the step budget per workload in a group.
func (j *shared) each(group []*workload.Workload) int {
	if len(group) == 0 {
		return j.m.Each(group)
	}
	return lazy.Cached(j.parts, keyOf(group), func() int { return j.m.Each(group) })
}

// group returns the workloads that are judged together with w, including w. If contend is set, it
// adds the workloads that may fill a node together with w, unless there are too many.
func (j *shared) group(w *workload.Workload, contend bool) []*workload.Workload {
	if contend {
		return j.contenders(w, model.Certain(w))
	}
	j.connect()
	return j.ruled[w]
}

func (j *shared) connect() {
	if j.ruled == nil {
		j.ruled, j.contending = j.groups(model.Certain)
	}
}

// contenders returns the group that w belongs to when it has the given number of pods. It
// includes all contenders unless there are too many.
func (j *shared) contenders(w *workload.Workload, pods int) []*workload.Workload {
	if j.contendersOf(w, pods) != nil {
		return j.ruled[w]
	}
	return j.contention(w, pods).groups[w]
}

// contendersOf returns all workloads that may fill a node together with the given number of w's
// pods, if they are too many to decide together. Otherwise it returns nil. If there are too many,
// only counting (T16), proofs about all workloads (T27) and single runs (T25) consider all of them. A
// verdict based on the rules alone then does not settle the question.
func (j *shared) contendersOf(w *workload.Workload, pods int) []*workload.Workload {
	c := j.contention(w, pods)
	if all := c.groups[w]; len(all) > len(j.ruled[w]) && c.large[keyOf(all)] {
		return all
	}
	return nil
}

func (j *shared) contention(w *workload.Workload, pods int) contention {
	j.connect()
	if pods <= max(model.Certain(w), w.Count.N) || w.Kind.PerNode() {
		return j.contending
	}
	return j.atMost()
}

// atMost returns the groups at the maximums of autoscalers.
func (j *shared) atMost() contention {
	if j.connect(); j.scaled.groups == nil {
		if j.scaled = j.contending; slices.ContainsFunc(j.m.Workloads, func(w *workload.Workload) bool { return w.Scale != nil }) {
			_, j.scaled = j.groups(most)
		}
	}
	return j.scaled
}

// withoutUnfit returns a group without the workloads that do not fit even before any change. They
// have their own findings, and it is unknown how many of their pods run. Workloads that w needs
// stay in the group.
func (j *shared) withoutUnfit(w *workload.Workload, group []*workload.Workload) []*workload.Workload {
	if len(group) == 1 {
		return group
	}
	unfit := j.fitting(group).unfit
	return slices.DeleteFunc(slices.Clone(group), func(o *workload.Workload) bool {
		return o != w && unfit[o] && !needs(j.m, w, o)
	})
}

// waiting reports whether some node accepts pods of a workload that withoutUnfit removed from
// group. While those pods are Pending, they may take room that other pods free up.
func (j *shared) waiting(group, sound []*workload.Workload) bool {
	return len(sound) < len(group) && slices.ContainsFunc(group, func(o *workload.Workload) bool {
		return !slices.Contains(sound, o) && j.taken(o)
	})
}

// fitting says whether the pods of a group fit before any change.
type fitting struct {
	verdict diag.Outcome
	// unfit holds the workloads that do not.
	unfit map[*workload.Workload]bool
}

// fitting decides whether the pods of a group fit before any change. The result is cached because every
// member asks for it. If the budget runs out for the first member, fitting does not try again for the
// others.
func (j *shared) fitting(group []*workload.Workload) fitting {
	key := keyOf(group) // stays valid while the map holds the group
	return lazy.Cached(j.fittings, key, func() fitting {
		if j.tried[key] {
			j.m.Run().Exhaust()
		}
		j.tried[key] = true
		s := j.scene(group)
		_, d := s.decide()
		f := fitting{d.Verdict, map[*workload.Workload]bool{}}
		if d.Verdict == diag.Never {
			for _, o := range group {
				f.unfit[o] = verdict(d, s.of[o]) == diag.Never
			}
		}
		return f
	})
}

// needs reports whether a hard rule of w requires the pods of o nearby or counts them.
func needs(m *model.Model, w, o *workload.Workload) bool {
	return slices.ContainsFunc(m.Group(w).Terms, func(t *model.Term) bool {
		return t.Hard && t.Use != model.AntiAffinity && m.Peer(t, w, o) != model.No
	})
}

// impossible reports whether decision d proves that the given workloads cannot be fully placed. A
// proof may cover only all workloads together. Then the decision rest must show that they are always
// placed with fewer pods, as otherwise pods of others may leave room while they wait.
func impossible(d, rest *certificate.Decision, ws ...*workload.Workload) bool {
	placed := rest.Verdict == diag.Always
	never := func(w *workload.Workload) bool { return verdict(d, w) == diag.Never }
	return placed && d.Verdict == diag.Never || slices.ContainsFunc(ws, never)
}

// coreOf returns a core that explains why a workload cannot be placed together with the others,
// or nil if there is no small core.
func coreOf(m *model.Model, d *certificate.Decision, w *workload.Workload) *search.Core {
	if verdict(d, w) == diag.Never {
		return search.Explain(m, w, d)
	}
	_, core := search.ExplainTogether(m, d)
	return core
}
