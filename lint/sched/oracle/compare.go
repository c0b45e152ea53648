package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/workload"
)

// Report is what comparing the two sides on one case gives.
type Report struct {
	// Findings are the disagreements.
	Findings []Finding
	// Discarded is set where the case has too many states to explore;
	// Undetermined where our side gives no verdict.
	Discarded, Undetermined bool
	// Why says what leaves the verdict open.
	Why string
	// Open is set where manifests do not tell what some selector selects, so that
	// our side may leave the verdict open.
	Open bool
	// Beyond is set where the API server refuses what our side does not check.
	Beyond bool
	// Filters and Judged count single comparisons.
	Filters, Judged int
	Truth           *Truth
}

// Finding is one disagreement. Cause is what stays the same while a case is
// shrunk.
type Finding struct{ Kind, Cause, Text string }

func (r *Report) find(kind, cause, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{kind, cause, fmt.Sprintf(format, args...)})
}

// Comparer compares case after case.
type Comparer struct {
	World *World
	// States caps the exploration, Walks is the number of random runs along
	// which filters are compared.
	States, Walks int
	// Decide is unset where only filters and validation are compared; Steps is
	// the budget of our decision.
	Decide bool
	Steps  int
}

// Compare reads one case on both sides and compares what they say of it.
func (c *Comparer) Compare(ctx context.Context, nodes, manifests string) (*Report, error) {
	cluster, err := NewCluster(nodes, manifests)
	if err != nil {
		return nil, err
	}
	ours, err := NewOurs(nodes, manifests)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	r.validation(cluster, ours)
	r.Beyond = r.Beyond || cluster.Odd
	r.Open = ours.open(cluster)
	if len(r.Findings) > 0 || r.Beyond {
		return r, nil
	}
	choices, err := cluster.choices()
	if err != nil {
		r.Discarded = true
		return r, nil
	}
	for walk := range c.Walks {
		if r.Open || len(choices) > 1 || len(ours.Model.Choices()) > 0 {
			break // a filter has no one answer
		}
		if err := c.filters(ctx, r, choices[0], ours, uint64(walk)); err != nil {
			return nil, err
		}
	}
	if c.Decide && len(r.Findings) == 0 && !ours.unknown(cluster) {
		err = c.decide(ctx, r, cluster, ours)
	}
	return r, err
}

// validation compares what the API server refuses with our problems.
func (r *Report) validation(cluster *Cluster, ours *Ours) {
	for name, w := range ours.Workloads {
		r.Judged++
		refusal, refused := cluster.Refused[name]
		object := slices.ContainsFunc(w.Problems, func(p workload.Problem) bool { return p.Stage == workload.StageObject })
		kind, _, _ := strings.Cut(name, " ")
		switch {
		case refused && !claimed(kind, cause(refusal.Reason)):
			r.Beyond = true
		case refused && !w.Refused():
			r.find("validation", "missed "+cause(refusal.Reason), "%s is refused (pods: %v): %s", kind, refusal.Pods, refusal.Reason)
		case !refused && w.Refused() && !claimed(kind, w.Problems[0].Field):
			r.Beyond = true
		case !refused && w.Refused():
			r.find("validation", "invented "+w.Problems[0].Message, "%s is accepted, we say %s: %s (%s)", kind, w.Problems[0].Field, w.Problems[0].Message, w.Problems[0].Stage)
		case refused && object == refusal.Pods:
			r.find("validation", "stage", "%s is refused (pods: %v): %s; we say %s", kind, refusal.Pods, refusal.Reason, w.Problems[0].Stage)
		}
	}
}

// cause is the field of the first error that the API server reports, without
// indexes.
func cause(reason string) string {
	_, rest, ok := strings.Cut(reason, "is invalid: ")
	if !ok {
		return reason
	}
	field, message, _ := strings.Cut(strings.TrimPrefix(rest, "["), ": ")
	message, _, _ = strings.Cut(message, ":")
	var b strings.Builder
	inside := false
	for _, c := range field {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String() + ": " + message
}

// filters follows one random run of the scheduler and compares every filter on
// the way: each pending workload on each node. Filters of ours do not depend on where the
// first pod with a claim went, so pods that follow another one are left out.
func (c *Comparer) filters(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, seed uint64) error {
	if err := c.World.Load(cluster); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	state := check.NewState(ours.Model)
	left := map[*Class]int{}
	for {
		type move struct {
			class *Class
			node  int
		}
		var moves []move
		for _, s := range cluster.Series {
			w := ours.Workloads[s.Name]
			for i, class := range s.Classes {
				if class.Count == left[class] || s.Ordered && i > 0 && left[s.Classes[i-1]] == 0 {
					continue
				}
				reasons := c.World.Filter(ctx, class)
				if !c.World.storage.follows(class.Pod) {
					r.sameFilters(class, reasons, state, w, ours)
				}
				for n, reason := range reasons {
					if reason == "" {
						moves = append(moves, move{class, n})
					}
				}
			}
		}
		if len(moves) == 0 || len(r.Findings) > 0 {
			return nil
		}
		m := moves[random.IntN(len(moves))]
		c.World.Place(m.class, m.node)
		state.Place(ours.Workloads[m.class.Series.Name], ours.Nodes[m.node])
		left[m.class]++
	}
}

// sameFilters compares the filters of one workload on all nodes. Workloads
// whose pods differ in labels that selectors read are left out, since a state
// of ours does not tell such pods apart.
func (r *Report) sameFilters(class *Class, reasons []string, state *check.State, w *workload.Workload, ours *Ours) {
	if len(class.Series.Classes) > 1 && !class.Series.Daemon || ours.Model.Group(w).Unknown.Given() {
		return
	}
	for n, theirs := range reasons {
		if class.Series.Daemon && theirs == "NodeAffinity" && daemonNode(class) != ours.Nodes[n].Name {
			continue // another pod of the set is for that node
		}
		r.Filters++
		ours := string(state.Filter(w, ours.Nodes[n]))
		if (ours == "") == (theirs == "") {
			continue
		}
		r.find("filter", fmt.Sprintf("%q/%q", theirs, ours), "pod %d of %s on n%d: scheduler %q, we %q", len(state.Pods())+1, class.Series.Name, n, theirs, ours)
		return
	}
}

// daemonNode is the node that a pod of a DaemonSet is for.
func daemonNode(c *Class) string {
	terms := c.Pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return terms[0].MatchFields[0].Values[0]
}
