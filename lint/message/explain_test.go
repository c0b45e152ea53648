package message

import (
	"testing"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// phrases compares phrases with the expected ones.
func phrases(t *testing.T, want map[string]string) {
	t.Helper()
	for got, want := range want {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// withKind returns a workload of a kind.
func withKind(t *testing.T, kind string) *workload.Workload {
	t.Helper()
	w := web()
	w.Object.Kind = kind
	if w.Kind = workload.NewTable().Find("apps/v1", kind); w.Kind == nil {
		t.Fatalf("there is no kind %s", kind)
	}
	return w
}

// TestCaptions checks the captions of node tables.
func TestCaptions(t *testing.T) {
	w := withKind(t, "Deployment")
	lost := func(is certificate.Meaning, nodes ...string) *certificate.Loss {
		l := &certificate.Loss{Meaning: is, Nodes: map[string]bool{}}
		for _, n := range nodes {
			l.Nodes[n] = true
		}
		return l
	}
	phrases(t, map[string]string{
		EmptyNodes(w, 1, 2): "1 of 2 nodes passes the filters on node name, taints and labels; filter results for a pod of Deployment shop/web, ignoring other pods",
		EmptyNodes(w, 0, 1): "0 of 1 node pass the filters on node name, taints and labels; filter results for a pod of Deployment shop/web, ignoring other pods",

		NextPod(withKind(t, "DaemonSet"), 2, 1): "DaemonSet shop/web has 2 pods running and 1 missing; filter results of each node for its pod",
		NextPod(w, 0, 1):                        "filter results for the only pod of Deployment shop/web",
		NextPod(w, 0, 3):                        "filter results for the first of 3 pods of Deployment shop/web",
		NextPod(w, 1, 2):                        "1 of 3 pods of Deployment shop/web are scheduled; filter results for the next one",
		NextPodAlone(w, 0, 2):                   "filter results for the first of 2 pods of Deployment shop/web",
		NextPodAlone(w, 2, 2):                   "without other workloads, 2 of 4 pods of Deployment shop/web are scheduled; filter results for the next one",
		NextPodAtMaximum(w, 4, 1):               "at the maximum of the autoscaler: 4 of 5 pods of Deployment shop/web are scheduled; filter results for the next one",
		NextPodAfter(w, nil):                    "nothing else scheduled; filter results for the next pod of Deployment shop/web",
		NextPodAfter(w, []string{"a", "b"}):     "a, b scheduled first; filter results for the next pod of Deployment shop/web",

		NextNewPod(w, 3, 0): "Deployment shop/web during a rollout, with 3 old pods running; filter results for the next new pod",
		NextNewPod(w, 1, 2): "Deployment shop/web during a rollout, with 1 old pod and 2 new pods running; filter results for the next new pod",
		TargetPod(w, 1):     "Deployment shop/web while one of 1 machine migrates; filter results for its target pod",

		ReplacementPod(w, lost(certificate.Gone, "n2", "n1"), 1):   "Deployment shop/web after the loss of n1, n2, with 1 pod missing; filter results for the next one",
		ReplacementPod(w, lost(certificate.Unreachable, "n1"), 2):  "Deployment shop/web while n1 is unreachable, with 2 pods missing; filter results for the next one",
		ReplacementPod(w, lost(certificate.Drained, "n1"), 2):      "Deployment shop/web after a drain of n1, with 2 pods missing; filter results for the next one",
		afterLoss(lost("gone", "a", "b", "c", "d", "e", "f", "g")): "after the loss of a, b, c, d, e, f and 1 more",
	})
}

// TestOutlook checks the words for the answer of a node, with all filters that reject the pod.
func TestOutlook(t *testing.T) {
	cordoned := check.Refusal{By: "NodeUnschedulable", Kind: check.Excluded, Exclusion: *exclusion(model.Cordoned)}
	full := check.Refusal{By: "NodeResourcesFit", Kind: check.NoRoom}
	phrases(t, map[string]string{
		Outlook(&check.NodeAnswer{Has: true}):                                 "has its pod",
		Outlook(&check.NodeAnswer{}):                                          "can take a pod",
		Outlook(&check.NodeAnswer{Refusals: []check.Refusal{cordoned}}):       "is cordoned",
		Outlook(&check.NodeAnswer{Refusals: []check.Refusal{cordoned, full}}): "is cordoned; NodeResourcesFit as well: has no pod slot left",
	})
}

// TestGrowthOfPools checks the words for the nodes that pools can add.
func TestGrowthOfPools(t *testing.T) {
	node := &topology.Node{Name: "n0", Pool: &topology.Pool{Name: "a", Count: 2}}
	zoned := &topology.Node{Name: "n0", Pool: &topology.Pool{Name: "a", Count: 1}, Labels: map[string]string{"topology.kubernetes.io/zone": "z1"}}
	phrases(t, map[string]string{
		PoolGrowth(topology.Growth{Node: node, Extra: 2}):  "up to 2 more of pool a",
		PoolGrowth(topology.Growth{Node: zoned, Extra: 1}): "up to 1 more of pool a in zone z1",
		AtNode(node, LacksKey("rack")):                     "pool a: n0 lacks the label rack",
		AtNode(zoned, LacksKey("rack")):                    "n0 lacks the label rack",
	})
}

// TestFixes checks the words for repairs of terms.
func TestFixes(t *testing.T) {
	outside := facts.Selector{MatchesOwn: diag.Always, OwnNamespace: diag.Never, Nearest: "app=web"}
	phrases(t, map[string]string{
		SelectorFix(&outside):                                                             "remove namespaces or add the workload's own namespace",
		SelectorFix(&facts.Selector{Nearest: "app=web"}):                                  "select app=web",
		SelectorFix(&facts.Selector{Form: "null"}):                                        "add a labelSelector",
		SelectorFix(&facts.Selector{Form: "empty"}):                                       "select labels that the pods have",
		SelectorFix(&facts.Selector{Form: "set", Use: "affinity"}):                        "select labels of the pods to run next to",
		AffinityFix(&facts.Affinity{Cause: "missing-key", Key: "k"}):                      "label the nodes with k, or use a key that they have",
		AffinityFix(&facts.Affinity{}):                                                    "select one label that all these pods have, or make one of the terms preferred",
		PodLabels([]string{"a=1", "b=2"}):                                                 "the pods have the labels a=1,b=2",
		PodLabels([]string{"a=1", "b=2", "c=3", "d=4"}):                                   "the pods have the labels a=1,b=2,c=3,d=4",
		PodLabels([]string{"a=1", "b=2", "c=3", "d=4", "e=5"}):                            "the pods have the labels a=1,b=2,c=3,d=4,...",
		namespaces(&facts.Namespaces{Names: []string{"a", "b"}}):                          "a, b",
		namespaces(&facts.Namespaces{All: true}):                                          "all namespaces",
		namespaces(&facts.Namespaces{Names: []string{"a"}, Selector: "team=x"}):           "a, namespaces that match team=x",
		SuppressionFix(&accept.Complaint{Problem: accept.NamesNoRule, Near: "x"}):         "use x",
		SuppressionFix(&accept.Complaint{Problem: accept.NamesNoRule}) + WithheldMade(""): "",
		WithheldMade(source.MadeByHelm):                                                   "helm rendered the file: its template has to change",
	})
}
