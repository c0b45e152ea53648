package placement

import (
	"errors"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// Verdict says what becomes of pods over all orders of pods and all choices
// among the nodes that pass the filters, if nothing moves afterwards.
type Verdict string

// The verdicts: every run places all pods, some do, none does, or the budget
// was over before that was known.
const (
	Always         Verdict = "always"
	OrderDependent Verdict = "order-dependent"
	Never          Verdict = "never"
	Undetermined   Verdict = "undetermined"
)

// Options bound a decision. The zero value is the default.
type Options struct {
	// Steps is the budget, in filters applied; the same input takes the same
	// number of them on any machine. 0 means DefaultSteps.
	Steps int
	// Purse, if it is not nil, is a budget for several questions: each takes out
	// what it uses, and gets no more than is left.
	Purse *int
	// AtOnce counts pods that end by themselves as if they stayed: what the
	// scheduler does with all pods at one time.
	AtOnce bool
}

// budget is the steps of one question, and of its check: what cannot be checked
// with as many filters as it took at most is not said.
func (o Options) budget() (steps, check int) {
	steps = o.Steps
	if steps == 0 {
		steps = DefaultSteps
	}
	if o.Purse != nil {
		steps = min(steps, max(*o.Purse, 0))
	}
	return steps, min(steps, checkSteps)
}

// pay takes out of the purse what a question has used.
func (o Options) pay(used int) {
	if o.Purse != nil {
		*o.Purse -= used
	}
}

// DefaultSteps is the default budget of a decision.
const DefaultSteps = 20_000_000

// Decide decides about all workloads of a model together. Pods that end by
// themselves take no room for good, so the decision is about the others; each
// workload of pods that end gets a verdict of its own beside it.
func Decide(m *Model, o Options) *Decision {
	if o.AtOnce {
		return m.decide(o)
	}
	d := m.Permanent().decide(o)
	m.decideFinite(d, o)
	return d
}

// decide decides about all workloads of a model together.
func (m *Model) decide(o Options) *Decision {
	steps, check := o.budget()
	given := steps
	parts := m.split()
	merged := parts.merge()
	rules := decideArena(newArena(merged, false, nil), &steps)
	used := merged.hold(rules, check)
	full := rules
	if a := newArena(merged, true, nil); a.binds() {
		full = decideArena(a, &steps)
		used += merged.hold(full, check)
	}
	o.pay(given - steps + used)
	rules.withhold()
	if full != rules {
		full.withhold()
	}
	d := full.decision(m, rules)
	if err := parts.verify(d); err != nil {
		// A fault of the engine, of which nobody must get to see a verdict.
		panic(fmt.Sprintf("placement: a certificate does not hold: %v", err))
	}
	if parts != m {
		d.join(parts)
	}
	d.because(m)
	d.overSizes(m, o)
	return d
}

// hold checks the proofs of all outcomes and gives the steps that it took. What
// cannot be checked within the checker's budget for a component is open.
func (m *Model) hold(d *decided, steps int) int {
	v := newVerifier(m, d.a.contend)
	v.steps = steps
	for i := range d.outcomes {
		o := &d.outcomes[i]
		if !o.decided || !o.always && !o.never {
			continue
		}
		switch err := v.check(d.a.assertion(o)); {
		case errors.Is(err, errTooLong):
			o.withdraw()
		case err != nil:
			panic(fmt.Sprintf("placement: a certificate does not hold: %v", err))
		}
	}
	return v.used
}

// withdraw takes back a verdict that cannot be checked, and what rests on it.
// The runs stay, as each is checked for itself.
func (o *outcome) withdraw() {
	o.always, o.never, o.decided, o.exact, o.large = false, false, false, false, true
	o.most, o.least = o.pods, 0
	clear(o.ownLeast)
	copy(o.ownMost, o.declared)
}

// binds reports whether resources can run out at all.
func (a *arena) binds() bool {
	return slices.Contains(a.shortages(), true)
}

// decided is the outcomes of all components of an arena.
type decided struct {
	a        *arena
	outcomes []outcome
}

func decideArena(a *arena, steps *int) *decided {
	d := &decided{a: a}
	for _, c := range a.components() {
		d.outcomes = append(d.outcomes, a.decide(c, steps))
	}
	return d
}

// decide settles one component by the cheapest means that does.
func (a *arena) decide(c component, steps *int) outcome {
	if c.unsure {
		return a.unsure(c)
	}
	for _, settle := range []func(component, *int) (outcome, bool){a.laminar, a.oneSpread, a.selfAffinity} {
		if o, ok := settle(c, steps); ok {
			return o
		}
	}
	o := a.estimate(c)
	share := 0
	if !(o.decided && o.exact) && c.pods <= mediumPods && (!o.decided || len(a.nodes) <= smallNodes) {
		if share = *steps / 4; o.decided {
			share = min(share, numberSteps)
		}
	}
	if share > 0 {
		if exact, ok := a.trySearch(c, steps, share); ok {
			return o.refined(exact)
		}
	}
	o.large = c.pods > mediumPods
	return o
}

// refined takes over what a search found out about a component. Where a proof
// has settled the verdict it is the proof that is checked, and the search has
// to agree.
func (o *outcome) refined(exact outcome) outcome {
	if o.decided && o.verdict() != exact.verdict() {
		panic(fmt.Sprintf("placement: %s by proof and %s by search", o.verdict(), exact.verdict()))
	}
	if o.decided && exact.proof.kind != unproved {
		exact.proof = o.proof
	}
	return exact
}

// open is the outcome of a component that nobody can decide from the files.
func (a *arena) open(c component) outcome {
	return outcome{component: c, most: c.pods, ownMost: slices.Clone(c.declared), ownLeast: make([]int, len(c.owners))}
}

// unsure is that of a component with a rule of which only the cluster knows what
// it selects: even so no pod comes where it has no node at all.
func (a *arena) unsure(c component) outcome {
	o := a.open(c)
	for k, i := range c.units {
		if u := a.units[i]; u.pods > 0 && len(u.nodes.list) == 0 {
			o.most -= u.pods
			o.ownMost[c.owner[k]] -= u.pods
			o.never, o.decided = true, true
			o.proof = proof{kind: limit, about: []int{i}}
		}
	}
	return o
}

// A component up to this size is searched even if proofs have settled it, for
// the exact numbers, and so far; a larger one only if they fail, and a much
// larger one not at all.
const (
	smallPods   = 40
	smallNodes  = 40
	mediumPods  = 80
	numberSteps = 300_000
)

// trySearch searches with a share of the budget; false if that was too little.
func (a *arena) trySearch(c component, steps *int, share int) (outcome, bool) {
	*steps -= share
	o := a.explore(c, &share)
	*steps += max(share, 0)
	return o, o.decided
}

func (o *outcome) verdict() Verdict {
	switch {
	case !o.decided:
		return Undetermined
	case o.always:
		return Always
	case o.never:
		return Never
	}
	return OrderDependent
}

// whole is the verdict over components, which do not touch one another.
func (d *decided) whole() Verdict {
	all := Always
	for i := range d.outcomes {
		switch v := d.outcomes[i].verdict(); {
		case v == Never:
			return Never
		case v == Undetermined || all == Undetermined:
			all = Undetermined // never, in a later component, outranks it
		case v == OrderDependent:
			all = OrderDependent
		}
	}
	return all
}

// tally is what is known of one workload: a DaemonSet has a unit a node.
type tally struct {
	pods, most, least int
	// best and worst are how many the best and the worst run of all place.
	best, worst int
	unclear     bool
	// unsure is set if a rule is why it is unclear, large if the size is.
	unsure, large bool
}

func (t tally) verdict() Verdict {
	switch {
	case t.most < t.pods:
		return Never
	case t.least == t.pods:
		return Always
	case t.unclear && !(t.best == t.pods && t.worst < t.pods):
		return Undetermined
	}
	return OrderDependent
}

func (d *decided) tallies() map[*workload.Workload]tally {
	all := map[*workload.Workload]tally{}
	for _, o := range d.outcomes {
		for k, w := range o.owners {
			t := all[w]
			t.most += o.ownMost[k]
			t.least += o.ownLeast[k]
			t.unclear, t.unsure, t.large = t.unclear || !o.exact, t.unsure || o.unsure, t.large || o.large
			all[w] = t
		}
		for _, s := range o.best {
			w := d.a.units[s.unit].g.origin()
			t := all[w]
			t.best++
			all[w] = t
		}
		for _, s := range o.worst {
			w := d.a.units[s.unit].g.origin()
			t := all[w]
			t.worst++
			all[w] = t
		}
		for _, i := range o.units {
			w := d.a.units[i].g.origin()
			t := all[w]
			t.pods += d.a.units[i].pods
			all[w] = t
		}
	}
	d.a.m.share(all)
	return all
}
