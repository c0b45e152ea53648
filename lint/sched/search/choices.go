package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxChoices is the maximum number of combinations of places for volumes that are decided one by
// one. Each needs a decision of its own, and all of them share one budget.
const maxChoices = 64

// choosing decides a model for every choice of where volumes are made before their pods are
// scheduled (R-N35).
type choosing struct {
	m   *model.Model
	o   Options
	all []model.Choice
	out *certificate.Decision
}

// plan holds the parts of a model and the number of all combinations.
type plan struct {
	parts []part
	n     int
}

func planOf(m *model.Model) *plan {
	return model.Keep(m, func() *plan {
		p := &plan{}
		p.parts, p.n = (&choosing{m: m, all: m.Choices()}).parts()
		return p
	})
}

// Chosen reports whether Decide covers every choice of where the volumes of a workload are made
// before its pods are scheduled.
func Chosen(m *model.Model, w *workload.Workload) bool {
	return m.Chooses(w) && planOf(m).n <= maxChoices
}

// part is a set of workloads that no others interact with, wherever volumes are made.
type part struct {
	ws      []*workload.Workload
	choices []model.Choice
	// values lists the combinations. Each has the values for all volumes, choice by choice. runs
	// holds the decisions.
	values [][]string
	runs   []*certificate.Chosen
}

// decide combines the decisions for all combinations. Parts are decided one by one, so that the
// numbers of their combinations add up instead of being multiplied.
func (c *choosing) decide() *certificate.Decision {
	p := planOf(c.m)
	parts, n := slices.Clone(p.parts), p.n
	if n > maxChoices {
		return c.tooMany()
	}
	if c.o.Steps > 0 {
		c.o.Steps = max(1, c.o.Steps/n)
	}
	c.out = &certificate.Decision{Verdict: diag.Always, RulesVerdict: diag.Always, Exact: true, Groups: map[*workload.Workload][]*workload.Workload{}, Brief: map[*workload.Workload]bool{}, Stuck: &certificate.Stuck{}}
	var best, worst []string
	steps := c.m.Altogether()
	for i := range parts {
		p := &parts[i]
		for _, values := range p.values {
			before := c.m.Run().Spent()
			p.runs = append(p.runs, c.one(p, values, steps/n))
			steps, n = steps-(c.m.Run().Spent()-before), n-1
		}
		most, fewest := c.add(p)
		if !slices.ContainsFunc(p.runs, func(r *certificate.Chosen) bool { return r.Verdict != diag.Never }) {
			c.out.Short = append(c.out.Short, certificate.Short{Workloads: p.ws, Pods: p.runs[most].Total, Most: min(p.runs[most].MaxPlaced, p.runs[most].Total-1)})
		}
		best, worst = append(best, p.values[most]...), append(worst, p.values[fewest]...)
	}
	c.confirm(parts, best, worst)
	sorting.Stable(c.out.Workloads, func(a, b certificate.WorkloadDecision) int {
		return slices.Index(c.m.Workloads, a.Workload) - slices.Index(c.m.Workloads, b.Workload)
	})
	return c.out
}

// one decides a part for one combination.
func (c *choosing) one(p *part, values []string, steps int) *certificate.Chosen {
	run := &certificate.Chosen{}
	run.Model, run.Of = c.m.Chosen(p.ws, p.choices, values)
	if !c.m.Run().Within(steps, func() { run.Decision = decideOne(run.Model, c.o) }) {
		run.Decision = undecided(run.Model)
	}
	return run
}

// parts divides the workloads, and returns the number of all combinations. Workloads that the
// scheduler need not place are in every part. Where pods finish or pools grow, there is one part.
func (c *choosing) parts() (parts []part, n int) {
	free, of := c.m.Chosen(c.m.Workloads, c.all, nil)
	in, whole := map[*workload.Workload]int{}, c.m.Topology.Elastic() || slices.ContainsFunc(c.m.Workloads, (*workload.Workload).Finite)
	if !whole {
		_, groups := Components(free, nil)
		for i, ws := range groups {
			for _, w := range ws {
				if of[w] != nil {
					w = of[w]
				}
				in[w] = i + 1
			}
		}
	}
	for _, choice := range c.all {
		for _, w := range choice.Users[1:] {
			from, to := in[w], in[choice.Users[0]]
			for o := range in {
				if in[o] == from {
					in[o] = to
				}
			}
		}
	}
	at := map[int]int{} // 0 is the part without choices, unless there is one part
	for _, choice := range c.all {
		id := in[choice.Users[0]]
		i, known := at[id]
		if !known {
			i, at[id] = len(parts), len(parts)
			parts = append(parts, part{values: [][]string{nil}})
		}
		p := &parts[i]
		p.choices, p.values = append(p.choices, choice), combined(p.values, &choice)
	}
	rest := part{values: [][]string{nil}}
	for _, w := range free.Workloads {
		placeable := free.Groups[w].Placeable()
		if of[w] != nil {
			w = of[w]
		}
		i, known := at[in[w]]
		if placeable && !known {
			rest.ws = append(rest.ws, w)
		}
		for k := range parts {
			if !placeable || known && i == k {
				parts[k].ws = append(parts[k].ws, w)
			}
		}
	}
	if len(rest.ws) > 0 {
		for _, w := range free.Workloads {
			if !free.Groups[w].Placeable() {
				rest.ws = append(rest.ws, w)
			}
		}
		parts = append(parts, rest)
	}
	for i := range parts {
		n += len(parts[i].values)
	}
	return parts, n
}

// combined adds the values for the volumes of a choice to combinations. Pods that are alike need not
// be permuted. It stops once there are too many combinations.
func combined(values [][]string, c *model.Choice) [][]string {
	for i := range c.Volumes() {
		var longer [][]string
		for _, v := range values {
			for k, value := range c.Values {
				if c.Alike && i > 0 && slices.Index(c.Values, v[len(v)-1]) > k {
					continue
				}
				longer = append(longer, append(slices.Clip(v), value))
			}
			if len(longer) > maxChoices {
				return longer
			}
		}
		values = longer
	}
	return values
}

// tooMany decides the other workloads.
func (c *choosing) tooMany() *certificate.Decision {
	d := decideOne(c.m, c.o)
	withdrawForNotModeled(d, c.m)
	d.Exact = false
	seen := map[*workload.Workload]bool{}
	for _, choice := range c.all {
		for _, w := range choice.Users {
			if seen[w] {
				continue
			}
			seen[w] = true
			why := model.Reason{Cause: model.ByVolume, Name: fmt.Sprintf("%s, in more than %d combinations of places", choice.Early, maxChoices)}
			d.Workloads = append(d.Workloads, certificate.WorkloadDecision{Workload: w, Pods: w.Count.N, Verdict: diag.Unknown, RulesVerdict: diag.Unknown, MaxPlaced: w.Count.N, Why: why})
			if !w.Finite() || c.o.AtOnce {
				d.Total, d.MaxPlaced = d.Total+w.Count.N, d.MaxPlaced+w.Count.N
			}
		}
	}
	return d
}

// either combines the verdicts for all combinations. A verdict is sometimes if one combination allows
// that all pods are placed, and one that they are not.
func either(all []diag.Outcome) diag.Outcome {
	is := func(some ...diag.Outcome) func(diag.Outcome) bool {
		return func(v diag.Outcome) bool { return slices.Contains(some, v) }
	}
	switch full, short := slices.ContainsFunc(all, is(diag.Always, diag.Sometimes)), slices.ContainsFunc(all, is(diag.Never, diag.Sometimes)); {
	case full && short:
		return diag.Sometimes
	case slices.Contains(all, diag.Unknown):
		return diag.Unknown
	case short:
		return diag.Never
	}
	return diag.Always
}

// add adds what is known about a part to the decision. It returns the combinations whose runs show
// that the most and the fewest pods are placed.
func (c *choosing) add(p *part) (most, fewest int) {
	var verdicts, rules []diag.Outcome
	highest, lowest, exact, open := 0, p.runs[0].Total, true, p.runs[0]
	pending := func(d *certificate.Chosen) (n int) {
		if d.Stuck == nil {
			return -1
		}
		for _, x := range d.Stuck.Pending {
			n += x.Count
		}
		return n
	}
	for i, d := range p.runs {
		verdicts, rules = append(verdicts, d.Verdict), append(rules, d.RulesVerdict)
		highest, lowest, exact = max(highest, d.MaxPlaced), min(lowest, d.MinPlaced), exact && d.Exact
		if len(d.Witness) > len(p.runs[most].Witness) {
			most = i
		}
		if pending(d) > pending(p.runs[fewest]) {
			fewest = i
		}
		if open.Verdict != diag.Unknown && d.Verdict == diag.Unknown {
			open = d
		}
	}
	verdict := either(verdicts)
	best, worst, out := p.runs[most], p.runs[fewest], c.out
	out.Verdict, out.RulesVerdict = worse(out.Verdict, verdict), worse(out.RulesVerdict, either(rules))
	out.Total, out.MaxPlaced, out.MinPlaced, out.Exact = out.Total+best.Total, out.MaxPlaced+highest, out.MinPlaced+lowest, out.Exact && exact
	out.Witness = append(out.Witness, renamed(best, best.Witness)...)
	switch {
	case out.Stuck == nil:
	case worst.Stuck != nil:
		out.Stuck.Placements = append(out.Stuck.Placements, renamed(worst, worst.Stuck.Placements)...)
		for _, x := range worst.Stuck.Pending {
			x.Workload = original(worst, x.Workload)
			out.Stuck.Pending = append(out.Stuck.Pending, x)
		}
	case verdict == diag.Always: // each run is complete
		out.Stuck.Placements = append(out.Stuck.Placements, renamed(worst, worst.Witness)...)
	default:
		out.Stuck = nil
	}
	for _, x := range open.Doubts {
		x.Workload, x.Target = original(open, x.Workload), original(open, x.Target)
		out.Doubts = append(out.Doubts, x)
	}
	for _, x := range open.Over {
		out.Over = append(out.Over, certificate.Overrun{Workloads: originals(open, x.Workloads), Pods: x.Pods, Cause: x.Cause})
	}
	for i := range best.Workloads {
		c.addWorkload(p, i)
	}
	out.Chosen = append(out.Chosen, best)
	return most, fewest
}

// addWorkload adds what is known about the i-th workload of a part's decisions.
func (c *choosing) addWorkload(p *part, i int) {
	w := p.runs[0].Workloads[i]
	w.Workload = original(p.runs[0], w.Workload)
	var verdicts, rules []diag.Outcome
	for _, d := range p.runs {
		o := &d.Workloads[i]
		verdicts, rules = append(verdicts, o.Verdict), append(rules, o.RulesVerdict)
		w.Pods, w.MaxPlaced, w.MinPlaced = max(w.Pods, o.Pods), max(w.MaxPlaced, o.MaxPlaced), min(w.MinPlaced, o.MinPlaced)
		if !w.Why.Given() {
			w.Why = o.Why
		}
		c.out.Brief[w.Workload] = c.out.Brief[w.Workload] || d.Brief[o.Workload]
	}
	w.Verdict, w.RulesVerdict = either(verdicts), either(rules)
	if w.Workload.Finite() && w.Verdict == diag.Sometimes {
		w.Verdict = diag.Unknown
	}
	w.Early = p.early(w.Workload, verdicts)
	switch {
	case w.Verdict != diag.Unknown:
		w.Why = model.Reason{}
	case w.Why.Workload != nil:
		w.Why.Workload = original(p.runs[0], w.Why.Workload)
	case !w.Why.Given():
		w.Why = model.Reason{Cause: model.ByVolume, Name: p.choices[0].String()}
	}
	c.out.Groups[w.Workload] = p.ws
	c.out.Workloads = append(c.out.Workloads, w)
}

// early says how the verdict on a workload depends on where its volume is made, or returns nil.
func (p *part) early(w *workload.Workload, verdicts []diag.Outcome) *certificate.Early {
	if len(slices.Compact(slices.Clone(verdicts))) < 2 {
		return nil
	}
	var out *certificate.Early
	volume := 0
	for _, c := range p.choices {
		from := volume
		if volume += c.Volumes(); !slices.Contains(c.Users, w) {
			continue
		}
		if out != nil || c.Volumes() > 1 {
			return &certificate.Early{Early: c.Early}
		}
		out = &certificate.Early{Early: c.Early}
		for _, value := range c.Values {
			var own []diag.Outcome
			for i, v := range verdicts {
				if p.values[i][from] == value {
					own = append(own, v)
				}
			}
			switch either(own) {
			case diag.Always:
				out.Always = append(out.Always, value)
			case diag.Never:
				out.Never = append(out.Never, value)
			default:
				out.Maybe = append(out.Maybe, value)
			}
		}
	}
	return out
}

// confirm replays the runs of several parts together, each where the volumes are made for the given
// values. The runs do not say which pods of a workload they place, so they are not replayed if these
// can be told apart.
func (c *choosing) confirm(parts []part, best, worst []string) {
	if c.out.Stuck != nil && len(c.out.Stuck.Pending) == 0 {
		c.out.Stuck = nil
	}
	if len(parts) < 2 {
		return
	}
	choices := lists.Gather(parts, func(p part) []model.Choice { return p.choices })
	on := func(values []string) (m *model.Model, of map[*workload.Workload]*workload.Workload) {
		m, of = c.m.Chosen(c.m.Workloads, choices, values)
		if !c.o.AtOnce {
			m = m.Permanent()
		}
		copies := map[*workload.Workload]*workload.Workload{}
		for from, w := range of {
			copies[w] = from
		}
		return m, copies
	}
	var err error
	c.m.Run().Within(c.m.Altogether(), func() {
		m, copies := on(best)
		as := &certificate.Chosen{Of: copies}
		if m.Split() == m {
			err = certificate.CheckerOf(m).Replay(m, renamed(as, c.out.Witness))
		}
		if m, as.Of = on(worst); err != nil || c.out.Stuck == nil || m.Split() != m {
			return
		}
		stuck := &certificate.Stuck{Placements: renamed(as, c.out.Stuck.Placements)}
		for _, x := range c.out.Stuck.Pending {
			x.Workload = original(as, x.Workload)
			stuck.Pending = append(stuck.Pending, x)
		}
		err = certificate.CheckerOf(m).Certify(m, stuck)
	})
	if err != nil {
		c.m.Run().Refuse(c.m.Workloads, err)
		withdrawVerdicts(c.m, c.out, nil, model.ByFault)
	}
}

func original(d *certificate.Chosen, w *workload.Workload) *workload.Workload {
	if o := d.Of[w]; o != nil {
		return o
	}
	return w
}

func originals(d *certificate.Chosen, ws []*workload.Workload) []*workload.Workload {
	return lists.Of(ws, func(w *workload.Workload) *workload.Workload { return original(d, w) })
}

func renamed(d *certificate.Chosen, run []certificate.Placed) (all []certificate.Placed) {
	for _, p := range run {
		all = append(all, certificate.Placed{Workload: original(d, p.Workload), Node: p.Node})
	}
	return all
}
