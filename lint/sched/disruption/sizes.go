package disruption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Sized is a workload with one of the numbers of pods that its autoscaler may choose.
type Sized struct {
	Workload *workload.Workload
	Pods     int
	fits     bool // all its pods are placed in some run
}

// Pods returns the workload's number of pods before the loss.
func (s *Survival) Pods(w *workload.Workload) int {
	sizes := s.Sizes
	for _, s := range sizes {
		if s.Workload == w {
			return s.Pods
		}
	}
	return model.Certain(w)
}

// choice is one choice of the autoscalers whose workloads are judged together: a judge of the cluster
// in which each of these workloads has a fixed number of pods.
type choice struct {
	*shared
	// of maps the workloads to those of the judge. sizes lists those with an autoscaler.
	of    map[*workload.Workload]*workload.Workload
	sizes []Sized
	// largest is set if no autoscaler may choose a larger number that fits.
	largest bool
	// decided is the decision about the workloads that are judged together.
	decided *certificate.Decision
}

// maxChoices is the maximum number of choices for which each is judged. Otherwise, the smallest, the
// declared and the largest numbers are, and up to maxOwn numbers of the workload in question.
const (
	maxChoices = 8
	maxOwn     = 6
	maxTold    = 200 // workloads of a context in which more than the smallest numbers are judged
)

// choices returns the choices of autoscalers that may affect an answer about a workload. It returns none
// if no autoscaler may. If every is not set, there are others. Choices with more pods than fit are left
// out: the question about the autoscaler itself covers them.
func (j *shared) choices(w *workload.Workload) (all []*choice, every bool) {
	if known, ok := j.choosing[w]; ok {
		return known.all, known.every
	}
	all, every = j.findChoices(w)
	j.choosing[w] = choices{all, every}
	return all, every
}

// choices holds the results of a call of choices.
type choices struct {
	all   []*choice
	every bool
}

func (j *shared) findChoices(w *workload.Workload) (all []*choice, every bool) {
	scaled := lists.Where(j.atMost().groups[w], func(o *workload.Workload) bool { return o.Scale != nil })
	if len(scaled) == 0 {
		return nil, true
	}
	if len(j.m.Workloads) > maxTold { // the model itself has the smallest numbers, but none of no pods
		if model.Certain(w) == 0 {
			return []*choice{j.choose(w, []Sized{{Workload: w, Pods: 1}})}, false
		}
		return []*choice{{shared: j, of: map[*workload.Workload]*workload.Workload{w: w}}}, false
	}
	vectors, every := j.vectors(w, scaled)
	for i, sizes := range vectors {
		c := j.choose(w, sizes)
		c.largest = i == len(vectors)-1
		if i == 0 || declared(sizes) || c.fits(all[0]) {
			all = append(all, c)
		}
	}
	return all, every
}

// Autoscaled reports whether autoscalers may choose between numbers of pods that affect an answer about
// a workload.
func (j *shared) Autoscaled(w *workload.Workload) bool {
	all, _ := j.choices(w)
	return len(all) > 0
}

// declared reports whether the workloads have the numbers of pods that are declared.
func declared(sizes []Sized) bool {
	return !slices.ContainsFunc(sizes, func(s Sized) bool { return s.Pods != s.Workload.Count.N })
}

// vectors returns the numbers of pods to ask about. The first entry has the smallest numbers. The last
// has the largest ones that fit by each workload's own rules.
func (j *shared) vectors(w *workload.Workload, scaled []*workload.Workload) (all [][]Sized, every bool) {
	low, declared, high := make([]Sized, len(scaled)), make([]Sized, len(scaled)), make([]Sized, len(scaled))
	own, product := -1, 1
	for i, o := range scaled {
		least, limit := o.Pods()
		if o == w {
			own, least = i, max(1, least)
		}
		limit = lazy.Cached(j.highest, o, func() int {
			if l := (scaling{j}).Limit(o, limit); l != nil {
				return max(l.Most, least)
			}
			return limit
		})
		limit = max(limit, least)
		low[i], high[i] = Sized{Workload: o, Pods: least}, Sized{Workload: o, Pods: limit}
		declared[i] = Sized{Workload: o, Pods: max(o.Count.N, least)}
		product = min(product*(limit-least+1), maxChoices+1)
	}
	all = [][]Sized{low}
	if every = product <= maxChoices; every {
		for next := slices.Clone(low); ; {
			i := slices.IndexFunc(next, func(s Sized) bool { return s.Pods < high[slices.Index(scaled, s.Workload)].Pods })
			if i < 0 {
				break
			}
			copy(next[:i], low[:i])
			next[i].Pods++
			all = append(all, slices.Clone(next))
		}
		if !slices.ContainsFunc(all, func(v []Sized) bool { return slices.Equal(v, declared) }) { // not all of them fit
			all = append(all, declared)
		}
		return all, true
	}
	all = append(all, declared)
	if own >= 0 {
		for n := low[own].Pods + 1; n < high[own].Pods && n <= low[own].Pods+maxOwn; n++ {
			one := slices.Clone(declared)
			one[own].Pods = n
			all = append(all, one)
		}
	}
	return slices.CompactFunc(append(all, high), slices.Equal), false
}

// choose returns the judge for a choice of sizes, which is cached, and what it decides about those that
// are judged together with w.
func (j *shared) choose(w *workload.Workload, sizes []Sized) *choice {
	var id strings.Builder
	for _, s := range sizes {
		fmt.Fprintf(&id, "%p %d ", s.Workload, s.Pods)
	}
	c := *lazy.Cached(j.chosen, id.String(), func() *choice {
		pods := map[*workload.Workload]int{}
		for _, s := range sizes {
			pods[s.Workload] = s.Pods
		}
		m, of := j.m.Fixed(pods)
		return &choice{shared: j.other(m), of: of, sizes: sizes}
	})
	c.sizes = slices.Clone(sizes)
	s := c.scene(c.group(c.of[w], true))
	_, c.decided = s.decide()
	for i := range c.sizes {
		c.sizes[i].fits = verdict(c.decided, s.of[c.of[c.sizes[i].Workload]]) != diag.Never
	}
	return &c
}

// fits reports whether the numbers of pods are not the reason that some pods are never placed. They are
// not if the same holds at the smallest numbers.
func (c *choice) fits(smallest *choice) bool {
	return c.decided.Verdict != diag.Never || smallest.decided.Verdict == diag.Never && !slices.ContainsFunc(c.sizes, func(s Sized) bool {
		i := slices.IndexFunc(smallest.sizes, func(o Sized) bool { return o.Workload == s.Workload })
		return !s.fits && s.Pods > smallest.sizes[i].Pods
	})
}

// settled reports whether an answer of yes at the largest choice holds at each smaller one. It does if
// no rule needs other pods or counts them, and all pods are placed however the others are placed: what
// is placed at a smaller choice is a part of a placement at the largest.
func (c *choice) settled(w *workload.Workload, placed func(at *choice, w *workload.Workload) bool) bool {
	return c.largest && c.decided.Verdict != diag.Never && search.Hereditary(c.m, c.group(c.of[w], true)) && placed(c, c.of[w])
}

// bad ranks the outcomes of one loss at one choice.
func bad(all []Survival, meaning certificate.Meaning) diag.Outcome {
	of := slices.DeleteFunc(slices.Clone(all), func(s Survival) bool { return s.Meaning != meaning })
	worst, _ := Worst(of)
	switch {
	case worst == nil:
		return diag.Always
	case Certain(of, meaning) > 0:
		return diag.Never
	}
	return worst.Verdict
}

// losses returns what losses do to a workload, as Survives. If autoscalers may choose between several
// numbers of pods, the answers are those at the worst choice, and no worse than Sometimes unless the
// workload suffers at each choice.
func (e evictions) losses(all []Survival, w *workload.Workload, key string, meanings ...certificate.Meaning) []Survival {
	choices, every := e.choices(w)
	if len(choices) == 0 {
		return e.lossesNow(all, w, key, meanings...)
	}
	at := make([][]Survival, len(choices))
	for i, c := range choices {
		at[i] = (evictions{c.shared}).lossesNow(nil, c.of[w], key, meanings...)
		for k := range at[i] {
			at[i][k].choice, at[i][k].Sizes = c, c.sizes
		}
	}
	before, order := len(all), map[string]int{} // of the lost domains
	for _, meaning := range meanings {
		pick, least := 0, severity(bad(at[0], meaning))
		for i := range at {
			n, worst := severity(bad(at[i], meaning)), severity(bad(at[pick], meaning))
			if least = min(least, n); n > worst || n == worst && declared(choices[i].sizes) {
				pick = i
			}
		}
		last := choices[len(choices)-1]
		open := severity(bad(at[pick], meaning)) == 0 && !every && !last.settled(w, func(at *choice, w *workload.Workload) bool {
			q := newLoss(at.shared, w, key)
			return !slices.ContainsFunc(q.kinds.Losses(), func(b *search.DomainLoss) bool {
				return q.mayHit(b) && !q.placedOnRemaining(q.contending, b, certificate.Loss{Meaning: meaning})
			})
		})
		for _, s := range at[pick] {
			switch {
			case s.Meaning != meaning:
				continue
			case open && !s.missed:
				s.Verdict, s.Why = diag.Unknown, by(model.ByScale)
			case least < severity(diag.Never):
				if s.hit = 0; s.Verdict == diag.Never {
					s.Verdict = diag.Sometimes
				}
			}
			if all = append(all, s); order[s.Value] == 0 {
				order[s.Value] = len(all)
			}
		}
	}
	slices.SortStableFunc(all[before:], func(a, b Survival) int { return order[a.Value] - order[b.Value] })
	return all
}

// Rollouts judges a workload's rollouts at the numbers of pods that autoscalers may choose (R-W18).
func (u updates) Rollouts(w *workload.Workload) (all []Rollout) {
	judge := func(u updates, w *workload.Workload) Rollout {
		pods := w.Count.N
		if w.Kind.PerNode() {
			pods = u.m.Eligible(w).Count
		}
		return u.Rollout(w, pods)
	}
	choices, every := u.choices(w)
	if len(choices) == 0 {
		if w.Count.N > 0 || w.Kind.PerNode() {
			all = append(all, judge(u, w))
		}
		return all
	}
	yes := true
	for _, c := range choices {
		r := judge(updates{shared: c.shared}, c.of[w])
		r.choice, r.Sizes = c, c.sizes
		yes = yes && (r.Verdict == diag.Always || r.Verdict == "")
		all = append(all, r)
	}
	if last := choices[len(choices)-1]; yes && !every && !last.settled(w, func(*choice, *workload.Workload) bool { return all[len(all)-1].Placed() }) {
		r := all[0]
		r.Verdict, r.Why = diag.Unknown, by(model.ByScale)
		all = append(all, r)
	}
	return all
}
