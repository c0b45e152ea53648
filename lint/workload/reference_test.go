package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// argo returns a Rollout with fields of its spec.
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

// TestReferenceSpans reads Rollout and Deployment from two files: problems of the template point
// into one, all others into the other.
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
