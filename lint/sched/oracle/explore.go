package main

import (
	"context"
	"errors"
)

// Verdict is what can be said of all runs of a scheduler.
type Verdict string

// The verdicts: every maximal state that can be reached has all pods placed,
// some have, or none has.
const (
	Always         Verdict = "always"
	OrderDependent Verdict = "sometimes"
	Never          Verdict = "never"
)

// Truth is what exhaustive exploration finds.
type Truth struct {
	Verdict                     Verdict
	Total, MaxPlaced, MinPlaced int
	// Series are the same for each workload on its own.
	Series map[string]Span
	// States is how many states were reached.
	States int
}

// Span is the smallest and the largest number of pods of one workload that are
// placed at the end.
type Span struct{ Pods, Max, Min int }

func (s Span) verdict() Verdict {
	switch {
	case s.Min == s.Pods:
		return Always
	case s.Max < s.Pods:
		return Never
	}
	return OrderDependent
}

// ErrTooLarge says that a case has more states than the cap.
var ErrTooLarge = errors.New("too many states")

// explorer walks all states that are reachable from the pods in place, by any
// pending pod on any node that passes now. Pods of a class are counts.
type explorer struct {
	world   *World
	classes []*Class
	counts  []byte // class by class, node by node
	left    []int
	// kinds are those of the nodes, or nil to tell all nodes apart.
	kinds []int
	seen  map[string]struct{}
	limit int
	truth *Truth
	first bool
}

// Explore decides a cluster by trying everything. Whether a state is maximal
// and what can follow depends on the state alone, so each is visited once; of many
// nodes, whichever nodes of one kind hold what is one state. Volumes that are made before
// there are pods may be made in several places: all of them are tried.
func Explore(ctx context.Context, w *World, c *Cluster, limit int) (*Truth, error) {
	choices, err := c.choices()
	if err != nil {
		return nil, err
	}
	var all *Truth
	for _, c := range choices {
		var kinds []int
		if len(c.Nodes) > fewNodes {
			if kinds, err = c.kinds(); err != nil {
				return nil, err
			}
		}
		t, err := explore(ctx, w, c, limit, kinds)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = t
			continue
		}
		all.MaxPlaced, all.MinPlaced, all.States = max(all.MaxPlaced, t.MaxPlaced), min(all.MinPlaced, t.MinPlaced), all.States+t.States
		for name, s := range t.Series {
			all.Series[name] = Span{s.Pods, max(s.Max, all.Series[name].Max), min(s.Min, all.Series[name].Min)}
		}
	}
	all.Verdict = Span{all.Total, all.MaxPlaced, all.MinPlaced}.verdict()
	return all, nil
}

// explore is Explore with the nodes of given kinds, or all told apart.
func explore(ctx context.Context, w *World, c *Cluster, limit int, kinds []int) (*Truth, error) {
	if err := w.Load(c); err != nil {
		return nil, err
	}
	x := &explorer{world: w, kinds: kinds, limit: limit, seen: map[string]struct{}{}, first: true, truth: &Truth{Total: c.Total(), Series: map[string]Span{}}}
	x.classes = c.Classes()
	for _, class := range x.classes {
		x.left = append(x.left, class.Count)
	}
	x.counts = make([]byte, len(x.classes)*len(w.nodes))
	if err := x.visit(ctx, c); err != nil {
		return nil, err
	}
	x.truth.States = len(x.seen)
	x.truth.Verdict = Span{x.truth.Total, x.truth.MaxPlaced, x.truth.MinPlaced}.verdict()
	return x.truth, nil
}

func (x *explorer) visit(ctx context.Context, c *Cluster) error {
	key := x.key()
	if _, ok := x.seen[key]; ok {
		return nil
	}
	if len(x.seen) >= x.limit {
		return ErrTooLarge
	}
	x.seen[key] = struct{}{}
	maximal, stands := true, x.stands()
	for i, class := range x.classes {
		if !x.pending(i) {
			continue
		}
		for n, reason := range x.world.FilterOn(ctx, class, stands) {
			if !stands[n] || reason != "" || class.barred != nil && class.barred[n] {
				continue
			}
			maximal = false
			if err := x.step(ctx, c, i, n); err != nil {
				return err
			}
		}
	}
	if maximal {
		x.end(c)
	}
	return nil
}

// pending reports whether a pod of the class exists and is not placed.
func (x *explorer) pending(i int) bool {
	if x.left[i] == 0 {
		return false
	}
	class := x.classes[i]
	return !class.Series.Ordered || class == class.Series.Classes[0] || x.left[i-1] == 0
}

func (x *explorer) step(ctx context.Context, c *Cluster, class, node int) error {
	at := class*len(x.world.nodes) + node
	x.world.Place(x.classes[class], node)
	x.counts[at]++
	x.left[class]--
	err := x.visit(ctx, c)
	x.left[class]++
	x.counts[at]--
	x.world.Remove(x.classes[class], node)
	return err
}

// end takes in a maximal state.
func (x *explorer) end(c *Cluster) {
	placed, i := 0, 0
	for _, s := range c.Series {
		of := s.Total()
		here := of
		for range s.Classes {
			here -= x.left[i]
			i++
		}
		placed += here
		span := x.truth.Series[s.Name]
		if x.first {
			span = Span{Pods: of, Max: here, Min: here}
		}
		span.Max, span.Min = max(span.Max, here), min(span.Min, here)
		x.truth.Series[s.Name] = span
	}
	if x.first {
		x.truth.MaxPlaced, x.truth.MinPlaced = placed, placed
	}
	x.first = false
	x.truth.MaxPlaced, x.truth.MinPlaced = max(x.truth.MaxPlaced, placed), min(x.truth.MinPlaced, placed)
}
