package workload

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// docs joins documents into one file.
func docs(all ...string) string { return strings.Join(all, "---\n") }

// manifest returns a Deployment with the given metadata and spec fields.
func manifest(meta string, fields ...string) string {
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {" + meta + "}\nspec:\n"
	for _, f := range fields {
		text += "  " + f + "\n"
	}
	return text + "  selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}\n"
}

func podWith(meta, spec, rest string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {" + meta + "}\nspec: {containers: [{name: c}]" + spec + "}\n" + rest
}

// summary returns a short description of a set.
func summary(s *Set) string {
	var all []string
	for _, w := range s.Workloads {
		word := w.String()
		for _, flag := range []struct {
			on   bool
			name string
		}{{w.Running, "running"}, {w.Repeated, "repeated"}, {w.Superseded, "superseded"}, {w.Copy, "copy"}, {w.Terminating(), "terminating"}, {w.Refused(), "refused"}} {
			if flag.on {
				word += " " + flag.name
			}
		}
		if w.Scale != nil {
			word += fmt.Sprintf(" %d..%d", w.Scale.Min, w.Scale.Max)
		}
		all = append(all, word)
	}
	for _, k := range s.Skipped {
		all = append(all, fmt.Sprintf("%s %d", k.Reason, k.Line))
	}
	for _, o := range s.NotJudged {
		all = append(all, "not judged: "+o.Kind)
	}
	for _, o := range s.Unresolved {
		all = append(all, "unresolved: "+o.Kind)
	}
	for _, count := range []struct {
		n    int
		name string
	}{{s.Others, "others"}, {s.Nodes, "nodes"}, {s.Owned, "owned"}, {s.Finished, "finished"}, {len(s.Topologies), "topologies"}, {len(s.Repeated), "repeated"}} {
		if count.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", count.n, count.name))
		}
	}
	return strings.Join(all, ", ")
}

type setRow struct{ name, text, want string }

func checkSets(t *testing.T, rows []setRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := summary(loadSet(t, row.text)); got != row.want {
				t.Errorf("\n got %s\nwant %s\n%s", got, row.want, row.text)
			}
		})
	}
}

// TestRunningObjects reads the output of kubectl get. Objects that other objects created are not
// counted twice, and terminated pods do not count.
func TestRunningObjects(t *testing.T) {
	owned := func(kind, name string) string {
		return ", ownerReferences: [{apiVersion: x, kind: " + kind + ", name: " + name + "}]"
	}
	set := "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a-5f, labels: {pod-template-hash: 5f}" + owned("Deployment", "a") + "}\nspec:\n  selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}\n"
	machine := "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: m}\nspec: {template: {spec: {domain: {}}}}\n"
	hash := ", labels: {pod-template-hash: 5f}"
	checkSets(t, []setRow{
		{"deployment, its set and pod", docs(manifest("name: a"), set, podWith("name: a-5f-x"+hash+owned("ReplicaSet", "a-5f"), "", "")), "Deployment a, 2 owned"},
		{"deployment and pod, no set", docs(podWith("name: a-5f-x"+hash+owned("ReplicaSet", "a-5f"), "", ""), manifest("name: a")), "Deployment a, 1 owned"},
		{"set of another deployment", docs(manifest("name: b"), set), "Deployment b, ReplicaSet a-5f"},
		{"pod without a hash", docs(manifest("name: a"), podWith("name: x"+owned("ReplicaSet", "a-5f"), "", "")), "Deployment a, Pod x"},
		{"pod of another namespace", docs(manifest("name: a, namespace: m"), podWith("name: x"+hash+owned("ReplicaSet", "a-5f"), "", "")), "Deployment m/a, Pod x"},
		{"pod of an unknown owner", podWith("name: x"+owned("Widget", "w"), "", ""), "Pod x"},
		{"rollout and pod, no set", docs(argo("name: r", "selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}"),
			podWith("name: r-5f-x, labels: {rollouts-pod-template-hash: 5f}"+owned("ReplicaSet", "r-5f"), "", "")), "Rollout r, 1 owned"},
		{"instance and launcher of a machine", docs(machine, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: m"+owned("VirtualMachine", "m")+"}\nspec: {domain: {}}\n",
			podWith("name: virt-launcher-m-x"+owned("VirtualMachineInstance", "m"), "", "")), "VirtualMachine m, 2 owned"},
		{"launcher of a machine", docs(machine, podWith("name: virt-launcher-m-x"+owned("VirtualMachineInstance", "m"), "", "")), "VirtualMachine m, 1 owned"},
		{"running", podWith("name: x", ", nodeName: n1", "status: {phase: Running}\n"), "Pod x running"},
		{"bound, not running", podWith("name: x", ", nodeName: n1", "status: {phase: Pending}\n"), "Pod x"},
		{"running nowhere", podWith("name: x", "", "status: {phase: Running}\n"), "Pod x"},
		{"terminating", podWith("name: x, deletionTimestamp: 2026-01-01T00:00:00Z", ", nodeName: n1", "status: {phase: Running}\n"), "Pod x running terminating"},
		{"succeeded", podWith("name: x", ", nodeName: n1", "status: {phase: Succeeded}\n"), "1 finished"},
		{"failed", podWith("name: x", ", nodeName: n1", "status: {phase: Failed}\n"), "1 finished"},
		{"a phase of another kind", manifest("name: a") + "status: {phase: Failed}\n", "Deployment a"},
	})
}

func TestPatches(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
	checkSets(t, []setRow{
		{"replicas", deployment + "  replicas: 3\n", "strategic-merge patch 1"},
		{"affinity", deployment + "  template:\n    spec:\n      affinity: {}\n", "strategic-merge patch 1"},
		{"a container, no selector and no labels", deployment + "  template:\n    spec:\n      containers: [{name: c, image: i}]\n", "strategic-merge patch 1"},
		{"labels alone", deployment + "  template: {metadata: {labels: {a: b}}}\n", "strategic-merge patch 1"},
		{"no spec", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n", "strategic-merge patch 1"},
		{"only a selector is missing", deployment + "  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n", "Deployment a refused"},
		{"whole", manifest("name: a"), "Deployment a"},
		{"pod without containers", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: b}\n", "strategic-merge patch 1"},
		{"job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: 3}\n", "strategic-merge patch 1"},
		{"machine", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec: {runStrategy: Halted}\n", "strategic-merge patch 1"},
		{"affinity of a machine", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec: {template: {spec: {affinity: {}}}}\n", "strategic-merge patch 1"},
		{"machine of a type", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec: {instancetype: {name: u1.small}, template: {spec: {affinity: {}}}}\n", "VirtualMachine a"},
	})
}

// TestPatchInAllButName reads a base that is a patch although nothing marks it as one: its
// kustomization adds the selector and the labels.
func TestPatchInAllButName(t *testing.T) {
	set := loadSet(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {serviceAccountName: a, volumes: [{name: tmp, emptyDir: {}}]}}}\n")
	if len(set.Skipped) != 1 || set.Skipped[0].Reason != source.SkipPatch || len(set.Workloads) > 0 {
		t.Errorf("got %+v, %d workloads", set.Skipped, len(set.Workloads))
	}
}

func TestRepeatedAndCopies(t *testing.T) {
	checkSets(t, []setRow{
		{"copies", docs(manifest("name: a"), manifest("name: a"), manifest("name: a")), "Deployment a, Deployment a copy, Deployment a copy"},
		{"a copy in another order", docs("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: b, containers: [{name: c}]}\n", "kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - \"name\": 'c'\n  nodeName: b\nmetadata: {name: a}\n"), "Pod a, Pod a copy"},
		{"differing", docs(manifest("name: a", "replicas: 1"), manifest("name: a", "replicas: 2")), "Deployment a repeated superseded, Deployment a repeated, 1 repeated"},
		{"differing and a copy", docs(manifest("name: a", "replicas: 1"), manifest("name: a", "replicas: 2"), manifest("name: a", "replicas: 2")), "Deployment a repeated superseded, Deployment a repeated superseded, Deployment a repeated, 1 repeated"},
		{"of other namespaces", docs(manifest("name: a"), manifest("name: a, namespace: b")), "Deployment a, Deployment b/a"},
		{"of other versions", docs(manifest("name: a"), strings.Replace(manifest("name: a", "replicas: 2"), "apps/v1", "apps/v1beta2", 1)), "Deployment a repeated superseded, Deployment a repeated, 1 repeated"},
		{"of generated names", docs(podWith("generateName: a-", "", ""), podWith("generateName: a-", ", nodeName: b", "")), "Pod a-, Pod a-"},
	})
}

func TestNamespaces(t *testing.T) {
	set := loadSet(t, docs("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {team: x, kubernetes.io/metadata.name: wrong}}\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n", "apiVersion: project.example.com/v1\nkind: Namespace\nmetadata: {name: c}\n"))
	want := map[string]string{"a": "kubernetes.io/metadata.name=a team=x", "b": "kubernetes.io/metadata.name=b"}
	if len(set.Namespaces) != len(want) || set.Others != 3 {
		t.Errorf("got %v, %d others", slices.Sorted(maps.Keys(set.Namespaces)), set.Others)
	}
	for name, labels := range want {
		if got := describeLabels(set.Namespaces[name]); got != labels {
			t.Errorf("%s: got %s, want %s", name, got, labels)
		}
	}
}

// TestOtherObjects checks that objects with a pod template, which would need a row in the table of
// kinds, are distinguished from objects that create no pods (R-W1).
func TestOtherObjects(t *testing.T) {
	custom := func(body string) string {
		return "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n" + body
	}
	checkSets(t, []setRow{
		{"template", custom("spec: {template: {spec: {containers: [{name: c}]}}}\n"), "not judged: Widget"},
		{"template, deep", custom("spec: {jobs: [{template: {spec: {template: {spec: {containers: [{name: c}]}}}}}]}\n"), "not judged: Widget"},
		{"pod template", custom("spec: {podTemplate: {spec: {containers: [{name: c}]}}}\n"), "not judged: Widget"},
		{"worker template", custom("spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c}]}}}}\n"), "not judged: Widget"},
		{"pod", custom("spec: {pod: {spec: {containers: [{name: c}]}}}\n"), "not judged: Widget"},
		{"Knative service", "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{image: i}]}}}\n", "Service a"},
		{"Argo rollout", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n", "Rollout a"},
		{"patch of a rollout", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\nspec: {strategy: {canary: {maxSurge: 1}}}\n", "strategic-merge patch 1"},
		{"rollout without version", "kind: Rollout\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}\n", "Rollout a refused"},
		{"pod template", "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\ntemplate: {spec: {containers: [{name: c}]}}\n", "not judged: PodTemplate"},
		{"no containers", custom("spec: {template: {spec: {containers: []}}}\n"), "1 others"},
		{"containers elsewhere", custom("spec: {containers: [{name: c}]}\n"), "1 others"},
		{"a schema", custom("spec: {properties: {template: {properties: {spec: {properties: {containers: {type: array}}}}}}}\n"), "1 others"},
		{"a template of something else", custom("spec: {template: {spec: {items: [{name: c}]}}}\n"), "1 others"},
		{"service with a selector", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: a}}\n", "1 others"},
		{"node", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", "1 nodes"},
		{"topology", "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: []\n", "1 topologies"},
		{"an empty list", "apiVersion: v1\nkind: List\nitems: null\n", "1 others"},
		{"no version", "kind: Widget\nmetadata: {name: a}\n", "non-Kubernetes document 1"},
		{"workload without version", strings.TrimPrefix(manifest("name: a"), "apiVersion: apps/v1\n"), "Deployment a refused"},
		{"patch without version", "kind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}\n", "non-Kubernetes document 1"},
	})
}

// TestLabels covers invalid labels, and the labels of generated names.
func TestLabels(t *testing.T) {
	job := func(meta, labels string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {" + meta + "}\nspec: {template: {metadata: " + labels + ", spec: {containers: [{name: c}]}}}\n"
	}
	for _, row := range []struct{ text, want string }{
		{job("name: a", "{labels: {x: z}}"), "batch.kubernetes.io/job-name=a job-name=a x=z"},
		{job("generateName: a-", "{labels: {x: z}}"), "x=z"},
		{job("name: a", "{labels: null}"), "batch.kubernetes.io/job-name=a job-name=a"},
		{job("name: a", "{}"), "batch.kubernetes.io/job-name=a job-name=a"},
		{job("name: a", "null"), "batch.kubernetes.io/job-name=a job-name=a"},
		{job("name: a", "{labels: {u: , x: ~}}"), "batch.kubernetes.io/job-name=a job-name=a u= x="},
		{job("name: a", "{labels: {x: 1, y: true, z: [a]}}"), "batch.kubernetes.io/job-name=a job-name=a refused 3"},
		{job("name: a", "{labels: [x]}"), "batch.kubernetes.io/job-name=a job-name=a refused 1"},
		{job("name: a", "{labels: x}"), "batch.kubernetes.io/job-name=a job-name=a refused 1"},
	} {
		w := loadSet(t, row.text).Workloads[0]
		got := describeLabels(w.Labels)
		if len(w.Problems) > 0 {
			got += fmt.Sprintf(" refused %d", len(w.Problems))
		}
		if got != row.want {
			t.Errorf("got %s, want %s\n%s", got, row.want, row.text)
		}
	}
}

// TestMachineRequests covers the minimum requests of a launcher pod (R-W23).
func TestMachineRequests(t *testing.T) {
	for domain, want := range map[string]string{
		"{}":                "cpu=100m",
		"{cpu: {cores: 4}}": "cpu=400m",
		"{cpu: {cores: 2, sockets: 2, threads: 2}}":                                   "cpu=800m",
		"{cpu: {cores: 4, dedicatedCpuPlacement: true}}":                              "cpu=4",
		"{cpu: {cores: 1000000000000}}":                                               "cpu=6553600m",
		"{memory: {guest: 2Gi}}":                                                      "cpu=100m memory=2Gi",
		"{memory: {guest: 2Gi}, resources: {requests: {memory: 1Gi}}}":                "cpu=100m memory=1Gi",
		"{resources: {requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 4, x.io/y: 1}}}": "cpu=2 memory=1Gi x.io/y=1",
	} {
		w := loadSet(t, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec: {domain: "+domain+"}\n").Workloads[0]
		got := map[string]string{}
		for name, q := range w.Spec.Containers[0].Resources.Requests {
			if name != KVM {
				got[string(name)] = q.String()
			}
		}
		if text := describeLabels(got); text != want {
			t.Errorf("%s: got %s, want %s", domain, text, want)
		}
	}
}

// argo returns a Rollout with the given spec fields.
func argo(meta, spec string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {" + meta + "}\nspec:\n  " + spec + "\n"
}

const toDeployment = "workloadRef: {apiVersion: apps/v1, kind: Deployment, name: a}"

// TestReferences covers Rollouts whose template is in another object.
func TestReferences(t *testing.T) {
	refers := argo("name: r", toDeployment)
	down := func(word string) string { return strings.Replace(refers, "name: a", "name: a, scaleDown: "+word, 1) }
	set := "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}\n"
	template := "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\ntemplate: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}\n"
	bad := strings.Replace(manifest("name: a", "replicas: 0"), "spec: {containers", "spec: {priorityClassName: A_B, containers", 1)
	checkSets(t, []setRow{
		{"scaled to zero", docs(manifest("name: a", "replicas: 0"), refers), "Rollout r, 1 others"},
		{"before its template", docs(refers, manifest("name: a", "replicas: 0")), "Rollout r, 1 others"},
		{"replicas not written", docs(manifest("name: a"), refers), "Rollout r, 1 others"},
		{"replicas written", docs(manifest("name: a", "replicas: 2"), refers), "Deployment a, Rollout r"},
		{"replicas not known", docs(manifest("name: a", "replicas: '${N}'"), refers), "Deployment a, Rollout r"},
		{"scaled down at last", docs(manifest("name: a", "replicas: 2"), down("onsuccess")), "Rollout r, 1 others"},
		{"scaled down by and by", docs(manifest("name: a", "replicas: 2"), down("progressively")), "Rollout r, 1 others"},
		{"never scaled down", docs(manifest("name: a", "replicas: 2"), down("never")), "Deployment a, Rollout r"},
		{"copies", docs(manifest("name: a", "replicas: 0"), manifest("name: a", "replicas: 0"), refers), "Rollout r, 2 others"},
		{"differing", docs(manifest("name: a", "replicas: 0"), manifest("name: a", "replicas: 0", "paused: true"), refers),
			"Deployment a repeated superseded, Deployment a repeated, unresolved: Rollout, 1 repeated"},
		{"two for one", docs(manifest("name: a", "replicas: 0"), refers, argo("name: s", toDeployment)), "Rollout r, Rollout s, 1 others"},
		{"not there", refers, "unresolved: Rollout"},
		{"another namespace", docs(manifest("name: a, namespace: m"), refers), "Deployment m/a, unresolved: Rollout"},
		{"another group", docs(strings.Replace(manifest("name: a"), "apps/v1", "example.com/v1", 1), refers), "not judged: Deployment, unresolved: Rollout"},
		{"a patch", docs("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0}\n", refers), "strategic-merge patch 1, unresolved: Rollout"},
		{"another version", docs(strings.Replace(manifest("name: a", "replicas: 0"), "apps/v1", "apps/v1beta2", 1), refers), "Rollout r, 1 others"},
		{"set", docs(set, strings.Replace(refers, "Deployment", "ReplicaSet", 1)), "Rollout r, 1 others"},
		{"template", docs(template, argo("name: r", "workloadRef: {apiVersion: v1, kind: PodTemplate, name: a}")), "Rollout r, 1 others"},
		{"of a kind without use", docs(refers, strings.Replace(refers, "kind: Deployment", "kind: Rollout", 1)), "unresolved: Rollout, unresolved: Rollout"},
		{"refused", docs(bad, refers), "Rollout r refused, 1 others"},
		{"with a pod", docs(manifest("name: a", "replicas: 0"), refers, podWith("name: r-5f-x, labels: {rollouts-pod-template-hash: 5f}, ownerReferences: [{apiVersion: x, kind: ReplicaSet, name: r-5f}]", "", "")), "Rollout r, 1 others, 1 owned"},
		{"lost, with a pod", docs(refers, podWith("name: r-5f-x, labels: {rollouts-pod-template-hash: 5f}, ownerReferences: [{apiVersion: x, kind: ReplicaSet, name: r-5f}]", "", "")), "Pod r-5f-x, unresolved: Rollout"},
	})
}

// TestReferenceSpans reads a Rollout and its Deployment from two files. The locations of template
// problems are in the file of the Deployment, all others in that of the Rollout.
func TestReferenceSpans(t *testing.T) {
	dir, table := t.TempDir(), NewTable()
	for name, text := range map[string]string{
		"rollout.yaml":    "# The template is elsewhere.\n" + argo("name: r, labels: {'a b': c}", toDeployment+"\n  replicas: 3\n  affinity: {}\n  strategy: {canary: {maxSurge: 1}}"),
		"deployment.yaml": strings.Replace(manifest("name: a", "replicas: 0", "replica: 1"), "spec: {containers", "spec: {nodeSelector: {zone: b}, affinty: {}, priorityClassName: A_B, containers", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := source.Load(source.Options{Dir: dir, Root: dir, Keep: table.Relevant, Drop: Unread}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	set := Load(table, read.Objects)
	if len(set.Workloads) != 1 {
		t.Fatal(summary(set))
	}
	w := set.Workloads[0]
	if got := w.CountSpan(); got.File != "rollout.yaml" || got.Line != 7 {
		t.Errorf("count at %+v", got)
	}
	if got := w.Rollout(3).Span; got.File != "rollout.yaml" || got.Line != 9 {
		t.Errorf("strategy at %+v", got)
	}
	k, v := w.SpecNode.Get("nodeSelector").Field("zone")
	if got := w.File().FieldSpan(k, v); got.File != "deployment.yaml" || got.Line != 8 || w.Spec.NodeSelector["zone"] != "b" {
		t.Errorf("template at %+v", got)
	}
	if got := describeLabels(w.Labels); got != "app=a" || w.Namespace() != "" || w.String() != "Rollout r" {
		t.Errorf("got %s with %s", w, got)
	}
	var got []string
	for _, p := range w.Problems {
		got = append(got, p.Span.File+" "+p.Field)
	}
	for _, u := range w.Unknown {
		got = append(got, u.Span.File+" "+u.Field)
	}
	want := "rollout.yaml metadata.labels.a b, deployment.yaml spec.template.spec.priorityClassName, rollout.yaml spec.affinity, deployment.yaml spec.template.spec.affinty, deployment.yaml spec.replica"
	if strings.Join(got, ", ") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestServices checks that a Service is read if it selects pods.
func TestServices(t *testing.T) {
	s := loadSet(t, docs(
		"apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: d}\nspec: {selector: {app: a, tier: x}}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 80}]}\n",
		"apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: c}\nspec: {selector: {app: c}}\n",
	))
	if len(s.Services) != 1 || s.Services[0].Namespace != "d" || !maps.Equal(s.Services[0].Selector, map[string]string{"app": "a", "tier": "x"}) {
		t.Errorf("the Services are %+v", s.Services)
	}
}
