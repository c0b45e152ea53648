package derive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// pictured is a cluster with its decision and its picture.
type pictured struct {
	*testing.T
	text  string
	m     *model.Model
	d     *certificate.Decision
	j     *disruption.Judge
	doc   *diag.Placement
	p     *diag.Picture
	nodes map[string]*topology.Node
	ws    map[string]*workload.Workload
}

func newPictured(t *testing.T, nodes, manifests string, losses ...string) *pictured {
	m, set := models.Of(t, nodes, manifests)
	m.Scale(1, 1)
	d := search.Decide(m, search.Options{Each: true})
	j := disruption.New(m, set, search.Options{})
	keys := func(*workload.Workload) []string { return losses }
	c := &pictured{T: t, text: nodes + manifests, m: m, d: d, j: j, doc: derive.Decision(m, d, j, keys), nodes: map[string]*topology.Node{}, ws: map[string]*workload.Workload{}}
	c.p = derive.Picture(m, d, j, c.doc)
	for _, n := range m.Topology.Nodes {
		c.nodes[n.Name] = n
	}
	for _, w := range m.Workloads {
		c.ws[derive.Reference(w)] = w
	}
	return c
}

// pod returns the workload and the node of an event, by the names in the picture.
func (c *pictured) pod(e diag.PicturePod) certificate.Placed {
	return certificate.Placed{Workload: c.ws[c.p.Workloads[e.Workload].Reference], Node: c.nodes[c.p.Nodes[e.Node].Name]}
}

// steps returns the events of a run as the JSON output has them.
func (c *pictured) steps(r *diag.PictureRun) []diag.PlacementStep {
	all := []diag.PlacementStep{}
	for _, e := range r.Events {
		if e.What != diag.EventPlace {
			c.Fatalf("%s: an event is %s\n%s", r.Title, e.What, c.text)
		}
		n := c.p.Nodes[e.Node]
		all = append(all, diag.PlacementStep{Workload: c.p.Workloads[e.Workload].Reference, Node: n.Name, Zone: n.Zone})
	}
	return all
}

func (c *pictured) run(r *diag.PictureRun) []certificate.Placed {
	var all []certificate.Placed
	for _, e := range r.Events {
		all = append(all, c.pod(e.PicturePod))
	}
	return all
}

// refusedBy counts the nodes in a picture's list by filter, and checks that no node is in it twice.
func (c *pictured) refusedBy(all []diag.PictureRefused) map[certificate.Reason]int {
	count, seen := map[certificate.Reason]int{}, map[int]bool{}
	for _, f := range all {
		count[certificate.Reason(f.Filter)] += len(f.Nodes)
		for _, n := range f.Nodes {
			if seen[n] {
				c.Errorf("node %d is listed twice\n%s", n, c.text)
			}
			seen[n] = true
		}
	}
	return count
}

// checkPlacing compares the runs that place pods with the JSON and with the checker's replay.
func (c *pictured) checkPlacing(r *diag.PictureRun) {
	switch r.Question {
	case diag.AskPlaced:
		if diff := cmp.Diff(c.doc.Witness, c.steps(r)); diff != "" {
			c.Errorf("the placement differs from the JSON\n%s\n%s", diff, c.text)
		}
		if err := (check.Checker{}).Replay(c.m, c.run(r)); err != nil {
			c.Errorf("the placement: %v\n%s", err, c.text)
		}
	case diag.AskStuck:
		if diff := cmp.Diff(c.doc.Stuck.Placements, c.steps(r)); diff != "" {
			c.Errorf("the run that gets stuck differs from the JSON\n%s\n%s", diff, c.text)
		}
		s := &certificate.Stuck{Placements: c.run(r)}
		for i, p := range r.Pending {
			said := c.doc.Stuck.Pending[i]
			if said.Workload != c.p.Workloads[p.Workload].Reference || said.Count != p.Count || said.Reason != p.Reason {
				c.Errorf("Pending %v is %v in the JSON\n%s", p, said, c.text)
			}
			s.Pending = append(s.Pending, certificate.Pending{Workload: c.ws[said.Workload], Count: p.Count})
		}
		if len(r.Pending) != len(c.doc.Stuck.Pending) {
			c.Errorf("%d workloads are Pending, not %d\n%s", len(r.Pending), len(c.doc.Stuck.Pending), c.text)
		}
		if err := (check.Checker{}).Certify(c.m, s); err != nil {
			c.Fatalf("the run that gets stuck: %v\n%s", err, c.text)
		}
		for i, p := range s.Pending {
			got := c.refusedBy(r.Pending[i].Refused)
			if p.Workload.Kind.PerNode() { // the picture leaves out nodes that have their pod
				continue
			}
			if diff := cmp.Diff(p.Reasons, got); diff != "" {
				c.Errorf("%s: filters differ from the certificate\n%s\n%s", p.Workload, diff, c.text)
			}
		}
	}
}

// checkLoss steps through a drain or a loss with the checker's filters.
func (c *pictured) checkLoss(r *diag.PictureRun) {
	events := r.Events
	if r.After >= 0 {
		events = slices.Concat(c.p.Runs[r.After].Events, events)
	}
	l := certificate.Loss{Nodes: map[string]bool{}, Meaning: certificate.Meaning(r.Meaning)}
	lost := map[int]bool{}
	for _, n := range r.Lost {
		l.Nodes[c.p.Nodes[n].Name], lost[n] = true, true
	}
	state := check.NewState(c.m)
	var before []certificate.Placed
	on, removed := map[diag.PicturePod]int{}, map[int]int{}
	at := slices.IndexFunc(events, func(e diag.PictureEvent) bool { return e.What == diag.EventLose })
	for i, e := range events[:at] {
		x := c.pod(e.PicturePod)
		if why := state.Filter(x.Workload, x.Node); e.What != diag.EventPlace || why != certificate.Takes {
			c.Errorf("%s: step %d: %s %s refuses %s on %s\n%s", r.Title, i, e.What, why, x.Workload, x.Node.Name, c.text)
		}
		state.Place(x.Workload, x.Node)
		before, on[e.PicturePod] = append(before, x), on[e.PicturePod]+1
	}
	full := check.NewPlacement(c.m, before)
	for _, w := range c.ws {
		if _, missing := full.Count(w); missing > 0 && w.Object.Name == c.name(r) {
			c.Errorf("%s: not all pods are in place before the loss\n%s", r.Title, c.text)
		}
	}
	after := full.Lose(l)
	for i, e := range events[at+1:] {
		x := c.pod(e.PicturePod)
		switch e.What {
		case diag.EventRemove:
			if on[e.PicturePod]--; on[e.PicturePod] < 0 || !lost[e.Node] {
				c.Errorf("%s: step %d removes a pod that is not lost\n%s", r.Title, i, c.text)
			}
			removed[e.Workload]++
		case diag.EventPlace:
			if why := after.Filter(x.Workload, x.Node); why != certificate.Takes || lost[e.Node] || removed[e.Workload] == 0 {
				c.Errorf("%s: step %d: %q refuses %s on %s\n%s", r.Title, i, why, x.Workload, x.Node.Name, c.text)
			}
			after.Place(x.Workload, x.Node)
			removed[e.Workload]--
		}
	}
	for key, pods := range on {
		if pods > 0 && lost[key.Node] && !c.pod(key).Workload.Kind.PerNode() {
			c.Errorf("%s: %d pods stay on a lost node\n%s", r.Title, pods, c.text)
		}
	}
	for _, p := range r.Pending {
		w := c.ws[c.p.Workloads[p.Workload].Reference]
		_, before := full.Count(w)
		if want := before + removed[p.Workload]; p.Count != want {
			c.Errorf("%s: %d pods of %s are Pending, not %d\n%s", r.Title, want, w, p.Count, c.text)
		}
		delete(removed, p.Workload)
		want := map[certificate.Reason]int{}
		for _, n := range c.m.Topology.Nodes {
			want[after.Filter(w, n)]++
		}
		if diff := cmp.Diff(want, c.refusedBy(p.Refused)); diff != "" {
			c.Errorf("%s: filters differ\n%s\n%s", r.Title, diff, c.text)
		}
	}
	for w, pods := range removed {
		if pods > 0 && !c.ws[c.p.Workloads[w].Reference].Kind.PerNode() {
			c.Errorf("%s: %d pods of %s are missing and not listed\n%s", r.Title, pods, c.p.Workloads[w].Reference, c.text)
		}
	}
}

func total(by map[certificate.Reason]int) (sum int) {
	for _, n := range by {
		sum += n
	}
	return sum
}

func (c *pictured) name(r *diag.PictureRun) string {
	if r.Workload < 0 {
		return ""
	}
	return c.ws[c.p.Workloads[r.Workload].Reference].Object.Name
}

// checkRollout compares a rollout with the moves of the certificate, which the checker has replayed.
func (c *pictured) checkRollout(r *diag.PictureRun) {
	w := c.ws[c.p.Workloads[r.Workload].Reference]
	on := map[diag.PicturePod]int{}
	var got []string
	fresh := 0
	for _, e := range r.Events {
		x, by := c.p.Workloads[e.Workload], 1
		if e.What == diag.EventRemove {
			by = -1
		}
		if on[e.PicturePod] += by; on[e.PicturePod] < 0 {
			c.Errorf("%s: a pod leaves that is not there\n%s", r.Title, c.text)
		}
		if x.New {
			fresh += by
		}
		got = append(got, fmt.Sprint(e.What, x.Reference, x.New, c.p.Nodes[e.Node].Name))
	}
	kept := false
	for _, one := range c.j.Rollouts(w) {
		var want []string
		for _, move := range one.Stuck {
			what := diag.EventPlace
			if move.Gone {
				what = diag.EventRemove
			}
			want = append(want, fmt.Sprint(what, derive.Reference(move.Workload), one.Fresh(move), move.Node.Name))
		}
		if kept = kept || slices.Equal(want, got); len(one.Stuck) == 0 && one.Verdict == diag.Never && fresh == 0 && len(r.Pending) == 1 {
			kept = true // no new pod starts
			if by := c.refusedBy(r.Pending[0].Refused); by[certificate.Takes] > 0 || total(by) != len(c.m.Topology.Nodes) {
				c.Errorf("%s: a node may take a new pod: %v\n%s", r.Title, by, c.text)
			}
		}
	}
	if !kept {
		c.Errorf("%s: the moves are in no certificate\n%q\n%s", r.Title, got, c.text)
	}
}

// crowdedCluster returns nodes and Deployments, StatefulSets and DaemonSets that barely fit, and in
// some clusters a CronJob.
func crowdedCluster(r *rand.Rand) (nodes, manifests string) {
	var b strings.Builder
	count := 2 + r.IntN(4)
	for i := range count {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%[1]d, labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: %[2]s, disk: %[3]s}}\nspec: {unschedulable: %[4]t}\nstatus: {allocatable: {cpu: \"%[5]d\", memory: 8Gi, pods: \"%[6]d\"}}\n",
			i, string(rune('a'+i%(1+r.IntN(3)))), []string{"ssd", "hdd"}[r.IntN(2)], r.IntN(12) == 0, 1+r.IntN(3), 2+r.IntN(5))
	}
	nodes = b.String()
	b.Reset()
	for i := range 1 + r.IntN(3) {
		kind := []string{"Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet"}[r.IntN(5)]
		replicas := fmt.Sprintf("replicas: %d, ", 1+r.IntN(4))
		if kind == "DaemonSet" {
			replicas = ""
		}
		rule := ""
		switch r.IntN(6) {
		case 0, 1:
			rule = fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a%d}}}]}}, ", r.IntN(i+1))
		case 2:
			if kind != "DaemonSet" {
				rule = fmt.Sprintf("topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a%d}}}], ", i)
			}
		case 3:
			rule = "nodeSelector: {disk: ssd}, "
		}
		fmt.Fprintf(&b, "---\napiVersion: apps/v1\nkind: %[1]s\nmetadata: {name: a%[2]d, namespace: shop}\nspec: {%[3]sselector: {matchLabels: {app: a%[2]d}}, template: {metadata: {labels: {app: a%[2]d}}, spec: {%[4]scontainers: [{name: c, image: c, resources: {requests: {cpu: %[5]dm}}}]}}}\n",
			kind, i, replicas, rule, 250*(1+r.IntN(5)))
	}
	if r.IntN(4) == 0 {
		b.WriteString("---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report, namespace: shop}\nspec: {schedule: 0 3 * * *, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 250m}}}]}}}}}\n")
	}
	return nodes, b.String()
}

// TestPictureReplays steps through each run of random clusters. The placement and the run that gets
// stuck equal the JSON pod by pod and pass the checker's replay. Drains and losses pass its filters
// step by step, and rollouts are the moves of their certificates.
func TestPictureReplays(t *testing.T) {
	seen := map[string]int{}
	clusters := 50
	if testing.Short() {
		clusters = 30
	}
	for i := range clusters {
		nodes, manifests := crowdedCluster(rand.New(rand.NewPCG(42, uint64(i))))
		c := newPictured(t, nodes, manifests, corev1.LabelHostname, corev1.LabelTopologyZone)
		for k := range c.p.Runs {
			r := &c.p.Runs[k]
			seen[r.Question]++
			if r.After >= 0 {
				seen["after"]++
			}
			switch r.Question {
			case diag.AskPlaced, diag.AskStuck:
				c.checkPlacing(r)
			case diag.AskDrain, diag.AskLoss:
				c.checkLoss(r)
			case diag.AskRollout:
				c.checkRollout(r)
			}
		}
		has := func(question string) bool {
			return slices.ContainsFunc(c.p.Runs, func(r diag.PictureRun) bool { return r.Question == question })
		}
		if has(diag.AskPlaced) != (len(c.doc.Witness) > 0) || has(diag.AskStuck) != (c.doc.Stuck != nil) {
			t.Errorf("a run of the JSON is missing\n%s", c.text)
		}
		if diff := cmp.Diff(c.p, derive.Picture(c.m, c.d, c.j, c.doc)); diff != "" {
			t.Errorf("a second picture differs\n%s", diff)
		}
		if t.Failed() {
			return
		}
	}
	for _, question := range []string{diag.AskPlaced, diag.AskStuck, diag.AskRollout, diag.AskDrain, diag.AskLoss, "after"} {
		if seen[question] < clusters/20 {
			t.Errorf("only %d runs are about %s: %v", seen[question], question, seen)
		}
	}
	t.Log(seen)
}

// TestPictureNeedsAnswers checks that a run about the loss of a zone is drawn only if the decision
// answers that question: other nodes may be in the zone as well.
func TestPictureNeedsAnswers(t *testing.T) {
	nodes := `apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, zones: {north: 1}, allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
- {name: u, count: 2, %sallocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
`
	manifests := `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}
`
	for _, c := range []struct {
		labels string
		losses []string
		want   bool
	}{
		{"", []string{corev1.LabelTopologyZone}, true},
		{"", []string{corev1.LabelHostname}, false},
		{"unknownLabels: [topology.kubernetes.io/zone], ", []string{corev1.LabelTopologyZone}, false},
		{"unknownLabels: [topology.kubernetes.io/zone], ", []string{corev1.LabelHostname}, false},
	} {
		p := newPictured(t, fmt.Sprintf(nodes, c.labels), manifests, c.losses...).p
		if got := slices.ContainsFunc(p.Runs, func(r diag.PictureRun) bool { return r.Question == diag.AskLoss }); got != c.want {
			t.Errorf("%q, %v: a run about a loss: %v", c.labels, c.losses, got)
		}
		if open := p.Nodes[1].ZoneOpen; open != (c.labels != "") || p.Nodes[0].ZoneOpen {
			t.Errorf("%q: zone of a node of pool u open: %v", c.labels, open)
		}
	}
}

// TestPictureLeavesOut checks which pods run already, and what a picture says that it does not show.
func TestPictureLeavesOut(t *testing.T) {
	node := func(name string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s}}\nstatus: {allocatable: {cpu: \"4\", memory: 16Gi, pods: \"5000\"}}\n", name)
	}
	web := func(replicas int, spec string) string {
		return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: %d, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {%scontainers: [{name: c, image: c}]}}}\n", replicas, spec)
	}
	const (
		running = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: old, namespace: shop, uid: \"1\"}\nspec: {nodeName: n1, containers: [{name: c, image: c}]}\nstatus: {phase: Running}\n"
		gated   = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: later, namespace: shop}\nspec: {schedulingGates: [{name: example.com/later}], containers: [{name: c, image: c}]}\n"
	)
	for _, c := range []struct {
		name, nodes, manifests string
		runs                   bool
		leftOut                []string
		running                []int // nodes
	}{
		{"all shown", node("n0") + node("n1"), web(1, ""), true, nil, nil},
		{"a pod runs", node("n0") + node("n1"), running + web(1, ""), true, nil, []int{1}},
		{"a gated pod", node("n0") + node("n1"), gated + web(1, ""), true, []string{message.NotModeled(1)}, nil},
		{"most pods whose changes are shown", node("n0") + node("n1"), web(3000, ""), true, nil, nil},
		{"one pod more", node("n0") + node("n1"), web(3001, ""), true, []string{fmt.Sprintf(message.PictureTooLarge, 3000)}, nil},
	} {
		p := newPictured(t, c.nodes, c.manifests, corev1.LabelHostname).p
		var running []int
		for _, pod := range p.Running {
			running = append(running, pod.Node)
		}
		if (len(p.Runs) > 0) != c.runs || !slices.Equal(p.LeftOut, c.leftOut) || !slices.Equal(running, c.running) {
			t.Errorf("%s: %d runs, left out %q, running on %v", c.name, len(p.Runs), p.LeftOut, running)
		}
	}
}
