package message

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// codes returns the constants of an enumeration by parsing the source of its package.
func codes(t *testing.T, dir, enumeration string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == enumeration {
				for _, v := range spec.Values {
					code, err := strconv.Unquote(v.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, code)
				}
			}
			return true
		})
	}
	if len(all) < 2 {
		t.Fatalf("%s has the codes %q of %s", dir, all, enumeration)
	}
	return all
}

// enumerations lists the enumerations in the catalogue, each with a function that returns the words
// for a code.
var enumerations = []struct {
	dir, name string
	say       func(code string) []string
}{
	{"sched/model", "Cause", func(code string) []string {
		r := model.Reason{Cause: model.Cause(code), Name: "x", Count: 3, Strategy: workload.Unclear{Kind: workload.DynamicScale}}
		other := r
		other.Workload = web()
		return []string{Reason(r), Reason(other)}
	}},
	{"workload", "UnclearKind", func(code string) []string {
		return []string{Reason(model.Reason{Cause: model.ByStrategy, Strategy: workload.Unclear{Kind: workload.UnclearKind(code), Field: "x", Value: "${X}"}})}
	}},
	{"sched/model", "ExclusionKind", func(code string) []string {
		x := exclusion(model.ExclusionKind(code))
		if x.Kind == model.Undeclared { // it is not about a node
			return []string{Excluded(x)}
		}
		x.Nodes = x.Nodes[:1]
		one := Exclusion(x)
		x.Nodes = x.Nodes[:2]
		return []string{Excluded(x), strings.TrimPrefix(one, "n0 "), strings.TrimPrefix(Exclusion(x), "2 nodes (n0, n1) ")}
	}},
	{"sched/check", "Kind", func(code string) []string {
		r := check.Refusal{
			Kind: check.Kind(code), NodeName: "n", Exclusion: *exclusion(model.Cordoned), Unmet: &check.Unmet{Lacks: true},
			Port: check.Port{By: "Deployment a"}, Spread: check.Spread{Domain: check.Domain{Key: "zone"}},
		}
		return []string{Refusal(&r)}
	}},
	{"sched/bound", "CompanionKind", func(code string) []string {
		return []string{together([]facts.Rule{{Use: code, Key: "k"}})}
	}},
	{"sched/search", "Part", func(code string) []string {
		plain := search.Repair{Workload: web(), Atoms: []search.Atom{{Workload: web(), Part: search.Part(code)}}, Opens: []*model.Exclusion{nil}}
		return []string{Repair(&plain)}
	}},
	{"workload", "Strategy", func(code string) []string {
		return []string{Arithmetic(&workload.Arithmetic{Strategy: workload.Strategy(code), Pods: 3})}
	}},
	{"workload", "Correction", func(code string) []string {
		written := "maxSurge 0, maxUnavailable 4"
		a := workload.Arithmetic{Surge: number("maxSurge", 0), Unavailable: number("maxUnavailable", 4), Correction: workload.Correction(code), Pods: 3}
		if code == "" {
			return []string{Arithmetic(&a)}
		}
		return []string{strings.TrimPrefix(Arithmetic(&a), written)}
	}},
}

// number returns an absolute amount of 3 pods.
func number(field string, n int32) workload.Amount {
	return workload.Amount{Field: field, Value: intstr.FromInt32(n), Of: 3, Written: true}
}

// share returns a default percentage.
func share(field, percent string, of int, up bool) workload.Amount {
	return workload.Amount{Field: field, Value: intstr.FromString(percent), Of: of, Up: up}
}

func web() *workload.Workload {
	return &workload.Workload{Object: &source.Object{Kind: "Deployment", Namespace: "shop", Name: "web"}}
}

func exclusion(kind model.ExclusionKind) *model.Exclusion {
	return &model.Exclusion{
		Kind: kind, Taint: &corev1.Taint{Key: "t", Effect: corev1.TaintEffectNoSchedule}, Key: "k", Want: "v", Has: "w",
		Requirement: &corev1.NodeSelectorRequirement{Key: "k", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
		Resource:    "cpu", NodeName: "n9", Reach: &workload.Reach{Claim: "c", By: &source.Object{Kind: "PersistentVolume", Name: "pv"}},
		Nodes: []*topology.Node{{Name: "n0"}, {Name: "n1"}, {Name: "n2"}, {Name: "n3"}, {Name: "n4"}},
	}
}

// TestUnknownVolume checks the text for a claim whose volume is unknown.
func TestUnknownVolume(t *testing.T) {
	w := web()
	w.Reaches = []workload.Reach{{Claim: "data", Open: "the PersistentVolume for claim data, which is not known"}}
	if got := Volumes(w, nil); got != "claim data (the PersistentVolume for claim data, which is not known)" {
		t.Error(got)
	}
}

// TestEveryCodeHasWords checks that every code has words. A code without words would be printed as
// it is.
func TestEveryCodeHasWords(t *testing.T) {
	for _, e := range enumerations {
		said := map[string]string{}
		for _, code := range codes(t, e.dir, e.name) {
			for _, text := range e.say(code) {
				if text == code || strings.Contains(text, "%!") || strings.TrimSpace(text) == "" {
					t.Errorf("%s %q reads %q", e.name, code, text)
				}
				if of, known := said[text]; known && of != code {
					t.Errorf("%s %q reads as %q does: %s", e.name, code, of, text)
				}
				said[text] = code
			}
		}
	}
}

// TestArithmetic checks the words for the computation of a rollout's numbers.
func TestArithmetic(t *testing.T) {
	surge := func(pods int) workload.Amount { return share("maxSurge", "25%", pods, true) }
	unavailable := func(pods int) workload.Amount { return share("maxUnavailable", "25%", pods, false) }
	for _, row := range []struct {
		a    workload.Arithmetic
		want string
	}{
		{workload.Arithmetic{Surge: surge(3), Unavailable: unavailable(3)}, "maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)"},
		{workload.Arithmetic{Surge: surge(4), Unavailable: unavailable(4)}, "maxSurge 25% of 4 is 1, maxUnavailable 25% of 4 is 1 (both by default)"},
		{workload.Arithmetic{Surge: number("maxSurge", 1), Unavailable: number("maxUnavailable", 0)}, "maxSurge 1, maxUnavailable 0"},
		{workload.Arithmetic{Surge: number("maxSurge", 2), Unavailable: unavailable(3)}, "maxSurge 2, maxUnavailable 25% of 3 rounds down to 0 (by default)"},
		{workload.Arithmetic{Surge: surge(5), Unavailable: number("maxUnavailable", 1)}, "maxSurge 25% of 5 rounds up to 2 (by default), maxUnavailable 1"},
		{
			workload.Arithmetic{Surge: number("maxSurge", 0), Unavailable: unavailable(3), Correction: workload.BothZero},
			"maxSurge 0, maxUnavailable 25% of 3 rounds down to 0 (by default); as both are 0, maxUnavailable counts as 1",
		},
		{
			workload.Arithmetic{Surge: surge(1), Unavailable: number("maxUnavailable", 5), Correction: workload.AllPods, Pods: 1},
			"maxSurge 25% of 1 rounds up to 1 (by default), maxUnavailable 5; there are no more than 1 pod",
		},
		{workload.Arithmetic{Strategy: workload.ByRecreate}, "type Recreate"},
		{workload.Arithmetic{Strategy: workload.ByBlueGreen, Pods: 3, Preview: 1}, "blueGreen: 3 new beside 3 pods, previewReplicaCount 1 first"},
		{workload.Arithmetic{Strategy: workload.ByTraffic, Pods: 2}, "canary with trafficRouting: 2 new beside 2 pods"},
		{workload.Arithmetic{Unavailable: workload.Amount{Field: "maxUnavailable", Value: intstr.FromInt32(1)}}, "maxUnavailable 1 (by default)"},
		{
			workload.Arithmetic{Unavailable: workload.Amount{Field: "maxUnavailable", Value: intstr.FromString("10%"), Of: 3, Written: true}, Correction: workload.AtLeastOne},
			"maxUnavailable 10% of 3 rounds down to 0, but counts as 1",
		},
		{workload.Arithmetic{}, ""},
	} {
		if got := Arithmetic(&row.a); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// TestBudget checks the words for the number of disruptions that a budget allows.
func TestBudget(t *testing.T) {
	percent := share("minAvailable", "50%", 3, true)
	log := &workload.Workload{Object: &source.Object{Kind: "DaemonSet", Namespace: "shop", Name: "log"}}
	for _, row := range []struct {
		b    disruption.Budget
		want string
	}{
		{disruption.Budget{Known: true, Pods: 3, Amount: number("minAvailable", 2)}, "minAvailable 2 of 3 pods"},
		{disruption.Budget{Known: true, Pods: 3, Amount: percent}, "minAvailable 50% of 3 rounds up to 2"},
		{disruption.Budget{Known: true, Pods: 1, Amount: number("maxUnavailable", 1)}, "maxUnavailable 1 of 3 pods, selects only 1"},
		{disruption.Budget{Known: true, Pods: 3, Amount: percent, WhileSmall: true, UpTo: 4}, "minAvailable 50%"},
		{disruption.Budget{Known: true, Unscaled: log, Amount: percent}, "minAvailable 50% needs a number of replicas, which DaemonSet shop/log does not have"},
		{disruption.Budget{Known: true}, "neither minAvailable nor maxUnavailable is set"},
		{disruption.Budget{Amount: workload.Amount{Field: "maxUnavailable"}}, "maxUnavailable 0"},
		{disruption.Budget{Amount: percent, AllowedMax: disruption.Unbounded}, ""},
	} {
		if got := Budget(&row.b); got != row.want {
			t.Errorf("got %s, want %s", got, row.want)
		}
	}
}

// TestExclusion checks the words for the reasons why nodes cannot run a pod, for no node, one node,
// several and many nodes.
func TestExclusion(t *testing.T) {
	at := func(kind model.ExclusionKind, nodes int) *model.Exclusion {
		x := exclusion(kind)
		x.Nodes = x.Nodes[:nodes]
		return x
	}
	karpenter := func(kind model.ExclusionKind, pools ...string) *model.Exclusion {
		x := exclusion(kind)
		x.Nodes, x.NodePools = nil, true
		for _, name := range pools {
			x.Nodes = append(x.Nodes, &topology.Node{Pool: &topology.Pool{Name: name}})
		}
		return x
	}
	valued := at(model.Tainted, 1)
	valued.Taint.Value = "gpu"
	exists := at(model.FailsExpression, 1)
	exists.Requirement = &corev1.NodeSelectorRequirement{Key: "k", Operator: corev1.NodeSelectorOpExists}
	for _, row := range []struct {
		x    *model.Exclusion
		want string
	}{
		{at(model.Undeclared, 0), "nodeName refers to node n9, which is not declared"},
		{at(model.Cordoned, 1), "n0 is cordoned"},
		{valued, "n0 has the untolerated taint t=gpu:NoSchedule"},
		{exists, "n0 does not match k Exists"},
		{at(model.OtherValue, 2), "2 nodes (n0, n1) have k=w, not v"},
		{at(model.LacksLabel, 3), "3 nodes (n0, n1, n2) lack the label k=v"},
		{at(model.FailsExpression, 5), "5 nodes (n0, n1, n2, ...) do not match k In [a, b]"},
		{karpenter(model.UnsetLabel, "a"), "no NodePool sets the label k=v"},
		{karpenter(model.OtherValue, "a", "a"), "nodes of NodePool a have k=w, not v"},
		{karpenter(model.Tainted, "c", "b", "d", "a"), "nodes of 4 NodePools (a, b, c, ...) have the untolerated taint t:NoSchedule"},
		{at(model.TooSmall, 5), "5 nodes (n0, n1, n2, ...) are too small for one pod (cpu)"},
	} {
		if got := Exclusion(row.x); got != row.want {
			t.Errorf("got %s, want %s", got, row.want)
		}
	}
}

// TestRefusal checks the words for the answer of a node for one more pod.
func TestRefusal(t *testing.T) {
	room := check.Room{Resource: "cpu", Requested: resource.MustParse("2"), Offered: resource.MustParse("4"), Left: resource.MustParse("1")}
	full := room
	full.Beside, full.More = []check.Pods{{Workload: "Deployment a", Count: 1}, {Workload: "Deployment b", Count: 2}}, 3
	largest := room
	largest.Requested, largest.AtMost = resource.MustParse("5"), true
	zone := check.Domain{Key: "zone", Value: "a"}
	repels := check.Repels{Domain: zone, Pods: check.Pods{Workload: "Deployment a", Count: 2}, Theirs: true}
	target := check.Repels{Domain: check.Domain{Key: "host", Single: true}, Pods: check.Pods{Workload: "the machine", Count: 1}, Migration: true, Theirs: true}
	lacks := &check.Unmet{Domain: zone, Lacks: true}
	for _, row := range []struct {
		r    check.Refusal
		want string
	}{
		{check.Refusal{Kind: check.NoRoom, Room: room}, "has 4 cpu, and one pod requests 2"},
		{check.Refusal{Kind: check.NoRoom, Room: full}, "has 1 of 4 cpu left next to 1 pod of Deployment a, 2 pods of Deployment b, 3 more, and one pod requests 2"},
		{check.Refusal{Kind: check.NoRoom, Room: largest}, "has at most 4 cpu, and one pod requests 5"},
		{check.Refusal{Kind: check.NoRoom}, "has no pod slot left"},
		{
			check.Refusal{Kind: check.PortTaken, Port: check.Port{HostPort: model.HostPort{Port: 80, Protocol: "TCP"}, By: "Deployment a"}},
			"has host port 80/TCP in use by a pod of Deployment a",
		},
		{
			check.Refusal{Kind: check.Uneven, Spread: check.Spread{Domain: zone, Here: 2, Smallest: 1, MaxSkew: 1}},
			"is in zone=a with 2 matching pods, the minimum of any value is 1: one more exceeds maxSkew 1 on zone",
		},
		{
			check.Refusal{Kind: check.Uneven, Spread: check.Spread{Domain: target.Domain, Here: 1, MaxSkew: 1, Domains: 2, MinDomains: 3}},
			"has 1 matching pods, with 2 of minDomains 3 values the minimum counts as 0: one more exceeds maxSkew 1 on host",
		},
		{check.Refusal{Kind: check.Repelled, Repels: repels}, "is in zone=a with 2 pods of Deployment a: its required anti-affinity on zone"},
		{check.Refusal{Kind: check.Repelled, Repels: target}, "runs 1 pod of the machine: the migration target needs another node"},
		{
			check.Refusal{Kind: check.Repelled, Repels: repels, Unmet: lacks},
			"is in zone=a with 2 pods of Deployment a: its required anti-affinity on zone; lacks the label zone, which the required affinity needs",
		},
		{check.Refusal{Kind: check.NoCompany, Unmet: lacks}, "lacks the label zone, which the required affinity needs"},
	} {
		if got := Refusal(&row.r); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// TestRepair checks the words for repairs of a contradiction.
func TestRepair(t *testing.T) {
	w, node := web(), &topology.Node{Name: "n0"}
	in := func(zone string) *topology.Node {
		return &topology.Node{Name: "n0", Labels: map[string]string{"zone": zone}}
	}
	term := func(use model.Use) *model.Term { return &model.Term{Use: use, Key: "zone", Hard: true} }
	selector, taints := search.Atom{Workload: w, Part: search.PartSelector}, search.Atom{Workload: w, Part: search.PartTaints}
	for _, row := range []struct {
		r    search.Repair
		want string
	}{
		{search.Repair{Workload: w, Replicas: 2}, "set replicas of Deployment shop/web to 2"},
		{search.Repair{Workload: w, Nodes: 1, Like: node}, "add 1 more node like n0"},
		{search.Repair{Workload: w, Nodes: 2, Like: node}, "add 2 more nodes like n0"},
		{search.Repair{Workload: w, Nodes: 2, Like: in("a"), Domain: "zone", Further: []*topology.Node{in("a"), in("a"), in("b")}}, "add 2 more nodes like n0"},
		{search.Repair{Workload: w, Nodes: 2, Like: in("a"), Domain: "zone", Further: []*topology.Node{in("c"), in("c")}}, "add 2 more nodes like n0 with zone=c"},
		{search.Repair{Workload: w, Nodes: 3, Like: in("a"), Domain: "zone", Further: []*topology.Node{in("c"), in("a"), in("c")}}, "add 3 more nodes like n0 spread over zone=a, c"},
		{
			search.Repair{Workload: w, Key: "topology.kubernetes.io/zone", Atoms: []search.Atom{{Workload: w, Term: term(model.Spread)}}},
			"set topologyKey: topology.kubernetes.io/zone for the spread of Deployment shop/web on zone",
		},
		{
			search.Repair{Workload: w, Atoms: []search.Atom{{Workload: w, Term: term(model.Spread)}, {Workload: w, Term: term(model.AntiAffinity)}}, Opens: []*model.Exclusion{nil, nil}},
			"set whenUnsatisfiable: ScheduleAnyway for the spread of Deployment shop/web on zone, and make the anti-affinity of Deployment shop/web on zone preferred",
		},
		{
			search.Repair{Workload: w, Atoms: []search.Atom{selector}, Opens: []*model.Exclusion{exclusion(model.LacksLabel)}},
			"label n0, n1, n2 and 2 more with k=v, or relax the node selector of Deployment shop/web",
		},
		{
			search.Repair{Workload: w, Atoms: []search.Atom{taints}, Opens: []*model.Exclusion{exclusion(model.Tainted)}},
			"tolerate the taint t:NoSchedule of n0, n1, n2 and 2 more in Deployment shop/web, or remove it",
		},
		{
			search.Repair{Workload: w, Atoms: []search.Atom{taints}, Opens: []*model.Exclusion{exclusion(model.Cordoned)}},
			"uncordon n0, n1, n2 and 2 more",
		},
		{
			search.Repair{Workload: w, Atoms: []search.Atom{taints}, Opens: []*model.Exclusion{{Kind: model.Tainted, Taint: &corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Effect: "NoSchedule"}}}},
			"add nodes without the taint ToBeDeletedByClusterAutoscaler:NoSchedule",
		},
	} {
		if got := Repair(&row.r); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// TestLimits checks the words for the rules that cause limits.
func TestLimits(t *testing.T) {
	rules := func(use string, keys ...string) (all []facts.Rule) {
		for _, key := range keys {
			all = append(all, facts.Rule{Use: use, Hard: true, Key: key})
		}
		return all
	}
	for got, want := range map[string]string{
		growth([]facts.GrownPool{{Pool: "a", Max: 5}, {Pool: "b", Max: 9}}):                                      "node pools are counted at their max: a at 5, b at 9",
		together(rules("anti-affinity", "host", "zone")):                                                         "combined with required anti-affinity on host, zone",
		together(rules("affinity", "zone")):                                                                      "required affinity on zone keeps all its pods in one domain",
		Term(&model.Term{Use: model.Affinity, Key: "zone"}):                                                      "required affinity on zone",
		growth(nil) + together(nil) + Reason(model.Reason{}):                                                     "",
		FitsOnceGrown(web(), &bound.Limit{Pods: 3, AtCount: 1, Growth: []model.PoolSize{{Pool: "a", Nodes: 5}}}): "Deployment shop/web fits only if node pools grow beyond their count (a at 5): 1 pod fit at count, 3 pods to schedule",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPlaces checks that a few of many nodes are named, but all of seven, because "1 more" is no
// shorter.
func TestPlaces(t *testing.T) {
	on := make([]facts.NodePods, 7)
	for i := range on {
		on[i] = facts.NodePods{Node: string(rune('a' + i)), Pods: 1}
	}
	on[0].Pods = 2
	for got, want := range map[string]string{
		Places(nil, 0): "", Places(on[:1], 1): "a (2)", Places(on, 7): "a (2), b, c, d, e, f, g", Places(on, 8): "a (2), b, c, d, e, f, 2 more",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestFixesOfLimits checks the words for advice with several cases.
func TestFixesOfLimits(t *testing.T) {
	tainted := exclusion(model.Tainted)
	for got, want := range map[string]string{
		AddNodes(1, corev1.LabelHostname):      "add an eligible node",
		AddNodes(2, corev1.LabelHostname):      "add 2 eligible nodes",
		AddNodes(1, "zone"):                    "add an eligible node with a new zone value",
		AddNodes(2, "zone"):                    "add 2 eligible nodes, each with a new zone value",
		SetReplicas("replicas", 3, 3):          "set replicas to 3",
		SetReplicas("replicas", 2, 3):          "set replicas to 2 (with 3, a rollout or node drain can get stuck)",
		FewerReplicas(web(), 2, 3):             "set replicas of Deployment shop/web to 2 (with 3, a rollout or node drain can get stuck)",
		Tolerate(tainted):                      "tolerate the taint t:NoSchedule (n0, n1, n2, ...)",
		TolerateWith(tainted, "replicas", 2):   "tolerate the taint t:NoSchedule (n0, n1, n2, ...) and set replicas to 2 (with more, pods can stay Pending, or a rollout or node drain can get stuck)",
		AddUntainted(tainted):                  "add nodes without the taint t:NoSchedule",
		Uncordon(exclusion(model.Cordoned)):    "uncordon n0, n1, n2 and 2 more",
		LabelNode(exclusion(model.LacksLabel)): "label a node with k=v, or remove the rule",
		KeepApart(Apart{Soft: true}):           "add a topologySpreadConstraint on kubernetes.io/hostname with whenUnsatisfiable: ScheduleAnyway",
		KeepApart(Apart{AntiAffinity: true}):   "add a topologySpreadConstraint on kubernetes.io/hostname with whenUnsatisfiable: DoNotSchedule, or required anti-affinity",
		KeepApart(Apart{Honor: true, RevisionLabel: "pod-template-hash"}): "add a topologySpreadConstraint on kubernetes.io/hostname with whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor" +
			" and matchLabelKeys: [pod-template-hash]",
		AndSoften(model.AntiAffinity):                ", and make the term preferred so that it does not block rollouts or node drains",
		AndSoften(model.Spread):                      ", and set whenUnsatisfiable: ScheduleAnyway so that it does not block rollouts or node drains",
		AddNodesIn(1, "zone", "a"):                   "add an eligible node with zone=a",
		AddNodesIn(1, "zone", ""):                    "add an eligible node with a new zone value",
		AddNodesIn(2, "zone", ""):                    "add 2 eligible nodes with the same new zone value",
		IgnoreRevisions("x", false):                  "add matchLabelKeys: [x] to the constraint so that old pods do not count",
		IgnoreRevisions("x", true):                   "add matchLabelKeys: [x] to the constraint so that old pods do not count (on these nodes the rollout can then get stuck because old pods still use the capacity)",
		MoreRoom(&facts.Shortfall{Resource: "pods"}): "add eligible nodes, or nodes with more pod slots",
		MoreRoom(&facts.Shortfall{Resource: "cpu"}):  "request less cpu or add nodes",
		shortfall(&facts.Shortfall{}):                "",
		shortfall(&facts.Shortfall{Resource: "pods", Running: 1, Requested: "4", Offered: "4", Nodes: 1}): "a new pod needs a pod slot; the 1 running pod uses 4 of 4 on 1 eligible node",
		shortfall(&facts.Shortfall{Resource: "pods", Left: "0", Running: 2, Nodes: 2}):                    "a new pod needs a pod slot, and the 2 running pods use all slots of 2 eligible nodes",
		strength("spread", true):   "DoNotSchedule constraint",
		strength("spread", false):  "ScheduleAnyway constraint",
		strength("affinity", true): "required affinity",
		AndPerRevision("x"):        ", and add matchLabelKeys: [x] so that rollouts and node drains do not get stuck",
		NotModeled(1):              "1 workload not modeled (see the notes) is in no run, and may need the same room",
		NotModeled(2):              "2 workloads not modeled (see the notes) are in no run, and may need the same room",
		MoreRuns(1, 8):             "1 more run is not shown: at most 8 about rollouts, drains and losses are",
		MoreRuns(2, 8):             "2 more runs are not shown: at most 8 about rollouts, drains and losses are",
		MoreSelectors(1):           "1 more namespaceSelector with the same problem",
		MoreSelectors(2):           "2 more namespaceSelectors with the same problem",
		AlsoPending(1, web()):      "1 pod of Deployment shop/web also stays Pending",
		AlsoPending(2, web()):      "2 pods of Deployment shop/web also stay Pending",
		IgnoresRequests(1):         "the finding ignores resource requests, and at least 1 pod is left over without them; here they count",
		IgnoresRequests(2):         "the finding ignores resource requests, and at least 2 pods are left over without them; here they count",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
