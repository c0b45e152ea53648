package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// companions returns a few workloads with requests on nodes in zones. Some of the workloads need
// others nearby and some are spread.
func (g generator) companions() (nodes, manifests string) {
	for n := range 3 {
		labels := fmt.Sprintf("%s=n%d", hostKey, n)
		if !g.chance(5) {
			labels += fmt.Sprintf(",%s=z%d", zoneKey, n%2)
		}
		nodes += node(fmt.Sprintf("n%d", n), labels) + fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: \"5\"}\n", g.pick("2", "3", "4", "5"))
	}
	var b strings.Builder
	for w := range 2 + g.IntN(2) {
		name := fmt.Sprintf("w%d", w)
		var antis, affs, spreads []string
		switch key := g.pick(hostKey, zoneKey, zoneKey); g.IntN(6) {
		case 0, 1:
			affs = append(affs, term(key, sel(fmt.Sprintf("app=w%d", g.IntN(w+1)))))
		case 2:
			spreads = append(spreads, strings.Replace(tsc(key, sel("app="+name), ""), "maxSkew: 1", "maxSkew: "+g.pick("1", "2", "3"), 1))
			if g.chance(50) {
				spreads = append(spreads, strings.Replace(tsc("rack", sel("app="+name), ""), "rack", map[bool]string{true: hostKey, false: zoneKey}[key == zoneKey], 1))
			}
		case 3:
			antis = append(antis, term(key, sel(fmt.Sprintf("app=w%d", g.IntN(w+1)))))
		}
		b.WriteString(named(name, 1+g.IntN(2), ruled(antis, affs, spreads)+
			fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("500m", "500m", "1", "2"))))
	}
	return nodes, b.String()
}

// proofs counts the models that are proved to be always placed without a search.
type proofs int

// hold returns an error if a proof about a model is wrong.
func (p *proofs) hold(m *model.Model, want truth, _ *certificate.Decision) string {
	d := search.DecideWithoutSearch(m.Split())
	if d.Verdict == diag.Always {
		*p++
	}
	if d.Verdict != diag.Unknown && d.Verdict != want.verdict() {
		return "proofs say " + string(d.Verdict)
	}
	return ""
}

// TestCompanyIsSure covers pods with required affinity. Such a pod always finds a node if its peer
// is certain to be placed and, wherever the peer is, the nodes near it cannot all be closed. Most
// of these cases must be proved without a search, and every proof must be right.
func TestCompanyIsSure(t *testing.T) {
	var proved proofs
	count := hold(t, 1500, 83, func(g generator) sample {
		nodes, manifests := g.companions()
		return sample{nodes, manifests, proved.hold}
	})
	count.vary(t, 3, diag.Always, diag.Sometimes, diag.Never)
	if !trials.Few(t) && int(proved)*2 < count[diag.Always] {
		t.Errorf("only %d of %v are proved without a search", proved, count)
	}
	t.Log(proved, "proved to be always")
}

// TestManyWorkloadsBesideOneAnother covers workloads that compete for nodes, some of them with
// rules, and are too many to try everything. Each of them is always placed.
func TestManyWorkloadsBesideOneAnother(t *testing.T) {
	nodes := ""
	for n := range 6 {
		nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%3)) + "status:\n  allocatable: {cpu: \"4\", pods: \"50\"}\n"
	}
	request := func(cpu int) string {
		return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %dm}}}]\n", cpu)
	}
	rules := []string{
		ruled(nil, []string{term(zoneKey, sel("app=w1"))}, nil), "", ruled(nil, nil, []string{tsc(zoneKey, sel("app=w2"), "")}),
		ruled([]string{term(hostKey, sel("app=w3"))}, nil, nil), ruled(nil, []string{term(zoneKey, sel("app=w4"))}, nil), "",
		ruled(nil, []string{term(zoneKey, sel("app=w0"))}, nil), "", "",
	}
	nine := ""
	for w, rule := range rules {
		nine += named(fmt.Sprintf("w%d", w), 1+w%3, rule+request(100+50*w))
	}
	bare := pod("two", "d", "app=two", "", spread(tsc(zoneKey, sel("app=two"), ""), tsc(hostKey, sel("app=two"), ""))+"\n"+request(500))
	for i := range 12 {
		bare += pod(fmt.Sprintf("p%d", i), "d", "", "", request(500))
	}
	for name, manifests := range map[string]string{"nine": nine, "bare": bare} {
		m, _ := modelOf(t, nodes, manifests)
		d := search.Decide(m, search.Options{})
		if d.Verdict != diag.Always || !d.Exact || d.MinPlaced != d.Total || len(d.Over) > 0 {
			t.Errorf("%s: %s, %d to %d of %d, exact %t", name, d.Verdict, d.MinPlaced, d.MaxPlaced, d.Total, d.Exact)
		}
		for _, w := range d.Workloads {
			if w.Verdict != d.Verdict {
				t.Errorf("%s: %s is %s, and the whole %s", name, w.Workload, w.Verdict, d.Verdict)
			}
		}
	}
}

// ordinals returns StatefulSets whose pods have affinity or anti-affinity to single pods.
func (g generator) ordinals(workloads int) (nodes, manifests string) {
	for n := range 2 + g.IntN(3) {
		nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%2))
	}
	for w := range workloads {
		name := fmt.Sprintf("w%d", w)
		rule := term(g.pick(zoneKey, zoneKey, hostKey), sel(fmt.Sprintf("app=w%d,apps.kubernetes.io/pod-index=%d", g.IntN(2), g.IntN(3))))
		spec := ruled(nil, []string{rule}, nil)
		if g.chance(30) {
			spec = ruled([]string{rule}, nil, nil)
		}
		text := strings.Replace(named(name, 1+g.IntN(3), spec), "kind: Deployment", "kind: StatefulSet", 1)
		if g.chance(40) {
			text = strings.Replace(text, "  replicas:", "  podManagementPolicy: Parallel\n  replicas:", 1)
		}
		manifests += text
	}
	return nodes, manifests
}

// TestCompanyIsCreatedFirst checks that a pod that is created after another one is not a certain
// peer of that pod, nor of the pods that it waits for.
func TestCompanyIsCreatedFirst(t *testing.T) {
	var proved proofs
	count := hold(t, 600, 84, func(g generator) sample {
		nodes, manifests := g.ordinals(1 + g.IntN(2))
		return sample{nodes, manifests, proved.hold}
	})
	count.vary(t, 3, diag.Always, diag.Sometimes, diag.Never)
}

// nodeLabels returns a DaemonSet on nodes of which some lack a label, and one or two workloads with
// affinity to pods whose nodes have the label.
func (g generator) nodeLabels() (nodes, manifests string) {
	for n := range 2 + g.IntN(2) {
		labels := fmt.Sprintf("%s=n%d", hostKey, n)
		if g.chance(60) {
			labels += fmt.Sprintf(",%s=z%d", zoneKey, n%2)
		}
		nodes += node(fmt.Sprintf("n%d", n), labels) + "status:\n  allocatable: {pods: \"4\"}\n"
	}
	manifests = strings.Replace(strings.Replace(named("d", 1, ""), "kind: Deployment", "kind: DaemonSet", 1), "  replicas: 1\n", "", 1)
	for w := range 1 + g.IntN(2) {
		rule := term(g.pick(zoneKey, hostKey), ", labelSelector: {matchExpressions: [{key: "+zoneKey+", operator: Exists}]}")
		manifests += named(fmt.Sprintf("w%d", w), 1+g.IntN(2), ruled(nil, []string{rule}, nil))
	}
	return nodes, manifests
}

// TestCompanyByNodeLabels checks that a single pod of a DaemonSet is a certain peer if it is on a
// node that a rule selects, wherever the DaemonSet's other pods are.
func TestCompanyByNodeLabels(t *testing.T) {
	var proved proofs
	count := hold(t, 400, 87, func(g generator) sample {
		nodes, manifests := g.nodeLabels()
		return sample{nodes, manifests, proved.hold}
	})
	count.vary(t, 3, diag.Always, diag.Never)
	if !trials.Few(t) && int(proved)*2 < count[diag.Always] {
		t.Errorf("only %d of %v are proved without a search", proved, count)
	}
	t.Log(proved, "proved to be always")
}
