package simulate

import (
	"crypto/sha256"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Change is something that happens to a workload when all pods are in place: a rollout if Way is set,
// else the loss or the drain of a domain of Key that runs pods of the workload.
type Change struct {
	Workload *workload.Workload

	// Key is kubernetes.io/hostname for a single node.
	Key     string
	Meaning certificate.Meaning

	// Pods is the number of pods that a rollout replaces.
	Way                      workload.Way
	Pods, Surge, Unavailable int
	// Fresh has the pods of the next revision. They are not placed before the rollout.
	Fresh *workload.Workload

	// Runs is the number of simulated runs that place all pods of the component, or 0 if nothing can
	// be said. Shown counts those after which the change leaves pods of the workload Pending.
	// Preempts counts those in which a Pending pod can preempt others, which leaves the end open.
	Runs, Shown, Preempts int
}

// Changes simulates changes that follow simulated runs of the scheduler, and counts how they end. A
// lost or drained domain is drawn from those that run pods of the workload. Rollouts follow the steps
// of the controllers (R-W5, R-W8, R-W12). Nothing is said about components with required affinity, whose
// pods may have to wait for pods that terminate, or if a loss changes the domains of a hard spread
// constraint.
func Changes(m *model.Model, changes []*Change, runs int) {
	if len(m.Topology.Nodes) == 0 || tooLarge(m) {
		return
	}
	fresh := map[*workload.Workload]bool{}
	for _, x := range changes {
		fresh[x.Fresh] = x.Fresh != nil
	}
	var all []*component
	m.Run().Within(m.Altogether(), func() {
		s := NewState(m.Permanent())
		failed := s.placeDaemons()
		all = s.components(failed, fresh)
	})
	of := map[*workload.Workload]*component{}
	for _, c := range all {
		for _, w := range c.Workloads {
			of[w] = c
		}
	}
	asked := map[*component][]*Change{}
	for _, x := range changes {
		if c := of[x.Workload]; c != nil && !c.Grows && !c.Why.Given() {
			asked[c] = append(asked[c], x)
		}
	}
	for _, c := range all {
		if len(asked[c]) > 0 {
			c.change(asked[c], runs)
		}
	}
}

// changeSteps is the number of steps after which no more runs are made if there are enough.
const changeSteps = 750_000

// change makes the runs that the steps suffice for, with all changes after each of them.
func (c *component) change(changes []*Change, runs int) {
	s := c.s
	start := s.Mark()
	s.m.Run().Within(s.m.Bounds(c.Workloads), func() {
		if why, _ := c.unknown(); why.Given() {
			return
		}
		known := map[Change]bool{}
		changes = slices.DeleteFunc(slices.Clone(changes), func(x *Change) bool {
			kind := Change{Key: x.Key, Meaning: x.Meaning, Way: x.Way}
			return !lazy.Cached(known, kind, func() bool { return c.followable(x) }) || x.Fresh != nil && !c.replaceable(x)
		})
		seed := c.seed()
		short := fmt.Sprintf("%x", sha256.Sum256([]byte(seed))) // a seed may be long
		until := s.m.Run().Spent() + s.m.Run().Times(changeSteps)
		for i := 0; len(changes) > 0 && i < runs && (changes[0].Runs < MinRuns || s.m.Run().Spent() < until); i++ {
			if how, _ := c.run(NewDraw(seed, i)); how == complete {
				placed := c.s.Mark()
				c.s.m.Run().Spend(1 + (len(c.s.all)+c.size)/model.PerStep)
				places := map[*pods][]int32{} // in the order of placement, which later changes lose
				for _, p := range c.s.all {
					places[p] = slices.Clone(p.places)
				}
				for _, x := range changes {
					d := NewDraw(fmt.Sprintf("%s\n%s %s%s%s", short, x.Workload, x.Way, x.Key, x.Meaning), i)
					how := complete
					if x.Way != "" {
						how = c.roll(x, places, d)
					} else {
						how = c.lose(x, d)
					}
					x.Runs++
					switch how {
					case leftOut:
						x.Shown++
					case preempts:
						x.Preempts++
					}
					clear(c.s.closed)
					c.s.Undo(placed)
				}
			}
			s.Undo(start)
		}
	})
	clear(s.closed)
	s.Undo(start)
	s.forget()
	for _, x := range changes {
		if x.Runs < min(runs, MinRuns) {
			x.Runs, x.Shown, x.Preempts = 0, 0, 0
		}
	}
}

// followable reports whether the state represents everything that a kind of change depends on.
func (c *component) followable(x *Change) bool {
	loss, members := x.Way == "", map[*workload.Workload]bool{}
	for _, w := range c.Workloads {
		members[w] = true
	}
	c.s.m.Run().Spend(1 + (len(c.s.all)+len(members))/model.PerStep)
	if loss && (certificate.Loss{Meaning: x.Meaning}).Hangs(x.Workload) {
		return false // its pods find nodes and cannot start there (R-N44)
	}
	for _, p := range c.s.all {
		against := func(t *model.Term) bool { return t.Hard && t.Use == model.AntiAffinity }
		if loss && p.Running && x.Meaning != certificate.Gone && slices.ContainsFunc(p.Terms, against) {
			return false // its rules apply until it is gone
		}
		if !members[p.Origin()] {
			continue
		}
		if loss && (p.Kind.VM || (certificate.Loss{Meaning: x.Meaning}).Tolerates(p.Origin())) {
			return false // its pods migrate, or come back to the closed node
		}
		if loss && c.s.m.PinOf(p.Workload).Key != "" {
			return false // volumes restrict where its pods move
		}
		for _, t := range p.Terms {
			switch {
			case !t.Hard:
			case t.Use == model.Affinity:
				return false
			case t.Use == model.Spread && loss && x.Meaning == certificate.Gone && c.s.endsDomain(x.Key, t, p):
				return false
			case t.Use == model.Spread && loss && x.Meaning != certificate.Gone && t.HonorsTaints():
				return false
			case t.Use == model.Spread && loss && x.Meaning == certificate.Unreachable && slices.ContainsFunc(c.s.all, func(o *pods) bool {
				return !(certificate.Loss{Meaning: x.Meaning}).Recreated(o.Origin()) && c.s.m.Peer(t, p.Workload, o.Workload) != model.No
			}):
				return false // pods that terminate do not count (R-T4), and the state keeps them
			case t.Use == model.AntiAffinity && loss && x.Meaning == certificate.Unreachable && !c.s.single(t.Key):
				return false // pods that terminate still count
			}
		}
	}
	return true
}

// replaceable reports whether the pods of a workload can be replaced by those of its next revision.
// Pods that hang because of a volume, or follow it, are not simulated.
func (c *component) replaceable(x *Change) bool {
	parts := 0
	for _, p := range c.s.all {
		if p.Origin() == x.Workload {
			parts++
		}
	}
	ways := []workload.Way{workload.Rolling, workload.InPlace, workload.Recreate, workload.BothWhole}
	fresh := c.s.of[x.Fresh] // nil if its pods are told apart
	return parts == 1 && fresh != nil && x.Workload.AttachedBy == nil && c.s.m.PinOf(fresh.Workload).Key == "" && slices.Contains(ways, x.Way) && !x.Workload.Kind.PerNode() && !c.s.learn(fresh).Given()
}

// lose loses or drains a domain. The pods of a lost domain are created again all at once, those of a
// drained node one after another.
func (c *component) lose(x *Change, d *Draw) end {
	s := c.s
	s.m.Run().Spend(1 + (len(s.nodes)+len(s.all))/model.PerStep)
	domain := s.lossDomains(x.Key)
	var hit []int32
	for _, p := range s.all {
		if p.Origin() == x.Workload {
			for _, n := range p.places {
				if domain[n] >= 0 && !slices.Contains(hit, domain[n]) {
					hit = append(hit, domain[n])
				}
			}
		}
	}
	if len(hit) == 0 {
		return complete
	}
	slices.Sort(hit)
	lost := hit[d.below(len(hit))]
	loss := certificate.Loss{Meaning: x.Meaning}
	for n := range s.nodes {
		if domain[n] == lost {
			s.closed[n] = true // the node remains part of its domains
		}
	}
	type hitPod struct {
		pod
		from int
	}
	var all []hitPod
	for _, p := range s.all {
		again := p.at == nil && !p.Running && loss.Recreated(p.Origin())
		for _, n := range slices.Sorted(slices.Values(p.places)) {
			switch {
			case !s.closed[n]:
			case again:
				all = append(all, hitPod{pod{p, -1}, int(n)})
			case x.Meaning == certificate.Gone: // so are its rules
				s.move(p, int(n), -1)
			}
		}
	}
	shuffle(d, all)
	var queue []pod
	if x.Meaning == certificate.Drained {
		// A StatefulSet replaces a pod when it is gone, other controllers when it terminates (R-W34).
		waits := func(p hitPod) bool { return p.Kind.Kind == "StatefulSet" }
		for _, p := range slices.Concat(slices.DeleteFunc(slices.Clone(all), waits), slices.DeleteFunc(all, func(p hitPod) bool { return !waits(p) })) {
			s.move(p.pods, p.from, -1)
			how, left := c.fill(append(queue, p.pod), d)
			if how == preempts {
				return preempts
			}
			queue = left
		}
	} else {
		for _, p := range all {
			s.move(p.pods, p.from, -1)
			queue = append(queue, p.pod)
		}
		slices.SortStableFunc(queue, byPriority)
		how, left := c.fill(queue, d)
		if how == preempts {
			return preempts
		}
		queue = left
	}
	if slices.ContainsFunc(queue, func(p pod) bool { return p.Origin() == x.Workload }) {
		return leftOut
	}
	return complete
}

// lossDomains returns the domain that each node is lost with. For kubernetes.io/hostname that is the
// node alone, whatever its label.
func (s *State) lossDomains(key string) []int32 {
	domain, _ := s.m.Numbered(key, s.nodes)
	if key == corev1.LabelHostname {
		domain = make([]int32, len(s.nodes))
		for n := range domain {
			domain[n] = int32(n)
		}
	}
	return domain
}

// single reports whether each domain of a key has exactly one node. Nodes can share even the hostname label.
func (s *State) single(key string) bool {
	s.m.Run().Spend(len(s.nodes) / model.PerStep)
	domain, size := s.m.Numbered(key, s.nodes)
	return len(slices.DeleteFunc(slices.Clone(domain), func(d int32) bool { return d < 0 })) == size
}

// endsDomain reports whether the loss of a domain can take all nodes that a spread constraint of pods
// counts in a domain of its own key (R-T2, R-T3).
func (s *State) endsDomain(lost string, t *model.Term, p *pods) bool {
	s.m.Run().Spend(len(s.nodes) / model.PerStep)
	domain, size := s.m.Numbered(t.Key, s.nodes)
	passes := s.m.Eligible(p.Workload).Nodes
	with, remains := make([]int32, size), make([]bool, size) // what the first node is lost with
	seen := make([]bool, size)
	for n, l := range s.lossDomains(lost) {
		d := domain[n]
		if d < 0 || t.HonorsAffinity() && !passes[n].Selector || t.HonorsTaints() && !passes[n].Taints {
			continue
		}
		remains[d] = remains[d] || l < 0 || seen[d] && l != with[d]
		seen[d], with[d] = true, l
	}
	for d := range seen {
		if seen[d] && !remains[d] {
			return true
		}
	}
	return false
}

// roll replaces the pods of a workload. The map places has the nodes of all pods before.
func (c *component) roll(x *Change, places map[*pods][]int32, d *Draw) end {
	s := c.s
	s.m.Run().Spend(1 + len(s.all)/model.PerStep)
	var old *pods
	for _, p := range s.all {
		if p.Origin() == x.Workload {
			old = p
		}
	}
	left, fresh := slices.Clone(places[old]), s.of[x.Fresh]
	all, placed := x.Pods, 0
	surge, unavailable := x.Surge, x.Unavailable
	switch x.Way {
	case workload.Recreate:
		surge, unavailable = 0, all
	case workload.BothWhole:
		surge, unavailable = all, 0
	}
	for placed < all || len(left) > 0 {
		canAdd := placed < min(all, all+surge-len(left))
		canRemove := len(left) > 0 && len(left)+placed > all-unavailable
		switch x.Way {
		case workload.Recreate:
			canAdd = len(left) == 0
		case workload.BothWhole:
			canRemove = len(left) > 0 && placed == all
		}
		if canAdd && !(canRemove && d.below(2) == 0) {
			if _, ok := s.Place(x.Fresh, d); ok {
				placed++
				continue
			}
			if !canRemove && s.preempts(pod{fresh, -1}) {
				return preempts
			}
		}
		if !canRemove {
			return leftOut
		}
		i := victim(old, left, fresh, d)
		s.move(old, int(left[i]), -1)
		left = slices.Delete(left, i, i+1)
	}
	return complete
}

// victim returns the index of the old pod that is removed next. A StatefulSet removes the pod with the
// highest ordinal (R-W12), a ReplicaSet one on a node with most pods of all revisions (R-W33).
func victim(old *pods, left []int32, fresh *pods, d *Draw) int {
	if old.Kind.Kind == "StatefulSet" {
		return len(left) - 1
	}
	count, most := map[int32]int{}, 0
	for _, n := range slices.Concat(left, fresh.places) {
		count[n]++
	}
	for _, n := range left {
		most = max(most, count[n])
	}
	var crowded []int
	for i, n := range left {
		if count[n] == most {
			crowded = append(crowded, i)
		}
	}
	return crowded[d.below(len(crowded))]
}
