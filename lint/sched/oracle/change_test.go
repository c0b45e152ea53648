package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// changing follows drains and losses, one after another. Each begins when all pods run and ends when
// nothing can happen any more. If all pods run then, the nodes return.
type changing struct {
	world   *World
	cluster *Cluster
	classes []*Class
	// leaving has the terminating pods of each class.
	leaving []*Class
	kinds   []string // by node: nodes with equal kinds are alike
	status  []certificate.Meaning
	objects map[certificate.Meaning][]*corev1.Node
	// counts has the pods by class and node, those that terminate after the others.
	counts  [][]int8
	left    []int // pods that exist and are Pending
	budgets map[string]bool
	steps   int
}

// mostChangeSteps is the maximum number of states of one cluster, those of all changes together.
const mostChangeSteps = 25_000

func newChanging(t *testing.T, world *World, c *clusters.Case) *changing {
	t.Helper()
	plain, budgets := *c, map[string]bool{}
	plain.Manifests = slices.DeleteFunc(slices.Clone(c.Manifests), func(o map[string]any) bool {
		if o["kind"] != "PodDisruptionBudget" {
			return false
		}
		budgets[o["metadata"].(map[string]any)["name"].(string)] = true
		return true
	})
	nodes, manifests := plain.Text()
	cluster, err := NewCluster(nodes, manifests)
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Load(cluster); err != nil {
		t.Fatal(err)
	}
	x := &changing{world: world, cluster: cluster, budgets: budgets, classes: cluster.Classes(), objects: map[certificate.Meaning][]*corev1.Node{}}
	for _, class := range x.classes {
		gone := *class
		gone.placed = nil
		gone.Pod = class.Pod.DeepCopy()
		gone.Pod.DeletionTimestamp = &metav1.Time{}
		gone.Pod.UID += "-leaving" // NodeInfo finds pods by their UIDs
		x.leaving = append(x.leaving, &gone)
		x.left = append(x.left, class.Count)
	}
	for range 2 * len(x.classes) {
		x.counts = append(x.counts, make([]int8, len(cluster.Nodes)))
	}
	for _, n := range cluster.Nodes {
		x.kinds = append(x.kinds, fmt.Sprint(n.Labels[corev1.LabelTopologyZone], n.Labels["pool"], n.Status.Allocatable))
		x.status = append(x.status, "")
		drained, unreachable := n.DeepCopy(), n.DeepCopy()
		drained.Spec.Unschedulable = true
		drained.Spec.Taints = append(drained.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
			unreachable.Spec.Taints = append(unreachable.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: effect})
		}
		for meaning, object := range map[certificate.Meaning]*corev1.Node{"": n, certificate.Gone: n, certificate.Drained: drained, certificate.Unreachable: unreachable} {
			x.objects[meaning] = append(x.objects[meaning], object)
		}
	}
	return x
}

func (x *changing) is(n int, status certificate.Meaning) {
	x.status[n] = status
	x.world.nodes[n].SetNode(x.objects[status][n])
}

// key is the same for states that differ only in which of equal nodes hold what.
func (x *changing) key() string {
	rows := make([]string, len(x.kinds))
	for n := range x.kinds {
		row := []byte(x.kinds[n] + string(x.status[n]))
		for c := range x.counts {
			row = append(row, byte(x.counts[c][n]))
		}
		rows[n] = string(row)
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// put adds a pod to a node, or takes one away. Classes of terminating pods come after the others.
func (x *changing) put(class, node int, by int8) {
	x.world.move(append(slices.Clone(x.classes), x.leaving...)[class], node, by)
	x.counts[class][node] += by
}

// visit follows all runs from the current state and calls each at their ends.
func (x *changing) visit(ctx context.Context, seen map[string]bool, each func()) {
	key := x.key()
	if seen[key] || x.steps > mostChangeSteps {
		return
	}
	seen[key] = true
	x.steps++
	moved := false
	for i, class := range x.classes {
		gone := i + len(x.classes)
		if x.left[i] > 0 && !(class.Series.Ordered && class != class.Series.Classes[0] && x.left[i-1] > 0) {
			for _, n := range x.world.takers(ctx, class, func(n int) bool { return x.status[n] != certificate.Gone }) {
				moved = true
				x.put(i, n, 1)
				x.left[i]--
				x.visit(ctx, seen, each)
				x.left[i]++
				x.put(i, n, -1)
			}
		}
		for n := range x.kinds {
			if x.status[n] != certificate.Drained {
				continue
			}
			again := 0 // a StatefulSet creates a pod again when it is gone
			if class.Series.Ordered || strings.HasPrefix(class.Series.Name, "StatefulSet") {
				again = 1
			}
			if x.counts[gone][n] > 0 {
				moved = true
				x.put(gone, n, -1)
				x.left[i] += again
				x.visit(ctx, seen, each)
				x.left[i] -= again
				x.put(gone, n, 1)
			}
			if x.counts[i][n] > 0 && x.allowed(class.Series) {
				moved = true
				x.put(i, n, -1)
				x.put(gone, n, 1)
				x.left[i] += 1 - again
				x.visit(ctx, seen, each)
				x.left[i] -= 1 - again
				x.put(gone, n, -1)
				x.put(i, n, 1)
			}
		}
	}
	if !moved {
		each()
	}
}

// missing returns how many pods of a workload do not run.
func (x *changing) missing(s *Series) (pods int) {
	for i, c := range x.classes {
		if c.Series == s {
			pods += c.Count - on(x.counts[i])
		}
	}
	return pods
}

func on(counts []int8) (pods int) {
	for _, n := range counts {
		pods += int(n)
	}
	return pods
}

// allowed reports whether the budget of a workload, which allows one missing pod, allows an eviction.
func (x *changing) allowed(s *Series) bool {
	_, name, _ := strings.Cut(s.Name, "/")
	return !x.budgets[name] || x.missing(s) < 1
}

// outcome says how a change ended for a workload.
type outcome struct{ good, bad, first bool }

// change is a loss or a drain of nodes of one kind or of a zone.
type change struct {
	meaning certificate.Meaning
	of      string
	app     string
}

// all follows all changes from all states in which no more pods can be placed. A workload counts in those
// in which all of its pods run. The outcomes that are seen from the states that placing pods leads to are
// first.
func (x *changing) all(ctx context.Context) (first, all map[change]*outcome) {
	first, all = map[change]*outcome{}, map[change]*outcome{}
	known, settled := map[string]bool{}, map[string]bool{}
	var states [][][]int8
	some := func() bool {
		return slices.ContainsFunc(x.cluster.Series, func(s *Series) bool { return x.missing(s) == 0 })
	}
	reach := func() {
		if key := x.key(); !known[key] && some() {
			known[key] = true
			states = append(states, x.copied())
		}
	}
	x.visit(ctx, settled, reach)
	placed := len(states)
	zones := map[string][]int{}
	for n, node := range x.cluster.Nodes {
		zones[node.Labels[corev1.LabelTopologyZone]] = append(zones[node.Labels[corev1.LabelTopologyZone]], n)
	}
	for i := 0; i < len(states) && x.steps <= mostChangeSteps; i++ {
		x.set(states[i], 1)
		began := map[*Series]bool{}
		for _, s := range x.cluster.Series {
			began[s] = x.missing(s) == 0
		}
		note := func(meaning certificate.Meaning, of string) {
			for _, s := range x.cluster.Series {
				to := []map[change]*outcome{all}
				if i < placed {
					to = append(to, first)
				}
				for _, in := range to {
					id := change{meaning, of, s.Name}
					if in[id] == nil && began[s] {
						in[id] = &outcome{}
					}
					if began[s] {
						in[id].good = in[id].good || x.missing(s) == 0
						in[id].bad = in[id].bad || x.missing(s) > 0
					}
				}
			}
		}
		tried := map[string]bool{}
		var found [][][]int8
		for n := range x.kinds {
			row := x.kinds[n]
			for c := range x.classes {
				row += fmt.Sprint(x.counts[c][n], " ")
			}
			if tried[row] {
				continue
			}
			tried[row] = true
			for _, meaning := range []certificate.Meaning{certificate.Drained, certificate.Gone, certificate.Unreachable} {
				x.lose(ctx, []int{n}, meaning, func() {
					note(meaning, x.kinds[n])
					if some() {
						found = append(found, x.copied())
					}
				})
			}
		}
		for zone, nodes := range zones {
			for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable} {
				x.lose(ctx, nodes, meaning, func() { note(meaning, zone) })
			}
		}
		x.set(states[i], -1)
		for _, g := range found { // the node is back, without terminating pods
			x.set(g, 1)
			x.visit(ctx, settled, reach)
			x.set(g, -1)
		}
	}
	return first, all
}

// copied returns the pods that do not terminate.
func (x *changing) copied() (g [][]int8) {
	for _, c := range x.counts[:len(x.classes)] {
		g = append(g, slices.Clone(c))
	}
	return g
}

// set puts pods in place, or removes them.
func (x *changing) set(g [][]int8, by int8) {
	for c, row := range g {
		for n, pods := range row {
			for range pods {
				x.put(c, n, by)
				x.left[c] -= int(by)
			}
		}
	}
}

// lose loses or drains nodes and follows all runs.
func (x *changing) lose(ctx context.Context, nodes []int, meaning certificate.Meaning, each func()) {
	type pod struct{ class, node int }
	was := slices.Clone(x.left)
	var gone []pod
	for _, n := range nodes {
		x.is(n, meaning)
		for c := range x.classes {
			for range x.counts[c][n] {
				gone = append(gone, pod{c, n})
			}
		}
	}
	if meaning == certificate.Drained {
		gone = nil
	}
	for _, p := range gone {
		x.put(p.class, p.node, -1)
		if meaning == certificate.Unreachable {
			x.put(p.class+len(x.classes), p.node, 1)
		}
		if meaning != certificate.Unreachable || !strings.HasPrefix(x.classes[p.class].Series.Name, "StatefulSet") { // which nothing creates again
			x.left[p.class]++
		}
	}
	x.visit(ctx, map[string]bool{}, each)
	for _, p := range gone {
		if meaning == certificate.Unreachable {
			x.put(p.class+len(x.classes), p.node, -1)
		}
		x.put(p.class, p.node, 1)
	}
	x.left = was
	for _, n := range nodes {
		x.is(n, "")
	}
}

// TestChanges compares answers about drains and losses with all runs of small clusters, by the scheduler's
// filters. A yes must hold after any other drains and losses. It also bounds how many answers are unknown
// within the usual budget, of those about workloads whose pods can all run.
func TestChanges(t *testing.T) {
	cases := trials.AtLeast(t, 600, 20)
	world, err := NewWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts, asked, unknown, larger := map[string]int{}, 0, 0, 0
	for seed := range trials.Seeds(t, cases) {
		c := clusters.Changing(1, uint64(seed))
		nodes, manifests := c.Text()
		ours, err := NewOurs(nodes, manifests)
		if err != nil {
			t.Fatal(err)
		}
		ours.Model.Scale(1, 1)
		j := disruption.New(ours.Model, ours.Set, search.Options{})
		d := search.Decide(ours.Model, search.Options{Each: true})
		j.Use(d)
		x := newChanging(t, world, c)
		first, all := x.all(t.Context())
		if len(first) == 0 {
			counts["no workload has all of its pods"]++
			continue
		}
		if x.steps > mostChangeSteps {
			larger++
		}
		for name, w := range ours.Workloads {
			if slices.ContainsFunc(d.Workloads, func(o certificate.WorkloadDecision) bool { return o.Workload == w && o.Verdict == diag.Never }) {
				counts["never fits"]++
				continue // no change is asked about
			}
			answers := map[string][]disruption.Survival{
				"drain": j.Drains(w), "node": j.Survives(w, corev1.LabelHostname), "zone": j.Survives(w, corev1.LabelTopologyZone),
			}
			for question, list := range answers {
				for _, a := range list {
					asked++
					if a.Verdict == diag.Unknown {
						if x.unknown(name, &a, first, counts) {
							unknown++
						}
						continue
					}
					if x.steps > mostChangeSteps {
						continue
					}
					x.compare(t, seed, name, &a, first, all, counts, question)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s%s", seed, nodes, manifests)
		}
	}
	for _, text := range sorted(counts) {
		t.Log(text)
	}
	t.Logf("%d clusters too large to follow; %d of %d answers unknown", larger, unknown, asked)
	trials.Bound(t, "share of unknown answers", float64(unknown)/float64(asked), 0.05)
}

func sorted(counts map[string]int) (all []string) {
	for k, n := range counts {
		all = append(all, fmt.Sprintf("%-40s %d", k, n))
	}
	slices.Sort(all)
	return all
}

// unknown counts an answer that is unknown by its cause. It returns false if there is nothing to know, because
// the pods never all run.
func (x *changing) unknown(name string, a *disruption.Survival, first map[change]*outcome, counts map[string]int) bool {
	text := fmt.Sprintf("%s unknown: %s", a.Meaning, a.Why.Cause)
	never := first[x.change(name, a)] == nil && x.steps <= mostChangeSteps
	if never {
		text += ", and the pods never all run"
	}
	counts[text]++
	return !never
}

// change returns the change that an answer is about.
func (x *changing) change(name string, a *disruption.Survival) change {
	of := a.Value
	if a.Key == corev1.LabelHostname {
		n := slices.IndexFunc(x.cluster.Nodes, func(n *corev1.Node) bool { return n.Name == a.Value })
		of = x.kinds[n]
	}
	return change{a.Meaning, of, name}
}

// compare compares an answer with the runs for each kind of node or for the zone.
func (x *changing) compare(t *testing.T, seed int, name string, a *disruption.Survival, first, all map[change]*outcome, counts map[string]int, question string) {
	t.Helper()
	id := x.change(name, a)
	began, ever := first[id], all[id]
	if began == nil || ever == nil {
		counts[fmt.Sprintf("%s %s, and the pods never all run", question, a.Verdict)]++
		return
	}
	truth := "mixed"
	switch {
	case !ever.bad:
		truth = "always"
	case !began.good:
		truth = "never"
	}
	counts[fmt.Sprintf("%s %s for %s", question, a.Verdict, truth)]++
	wrong := a.Verdict == diag.Always && truth != "always" || a.Verdict == diag.Never && truth != "never" || a.Verdict == diag.Sometimes && !(ever.good && ever.bad)
	if wrong {
		t.Errorf("seed %d: %s %s of %s: %s (%s), but %s: %+v, later %+v", seed, name, a.Meaning, a.Value, a.Verdict, a.Why.Cause, truth, *began, *ever)
	}
}
