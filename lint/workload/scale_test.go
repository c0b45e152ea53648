package workload

import (
	"fmt"
	"strings"
	"testing"
)

func TestScale(t *testing.T) {
	scaler := func(meta, target, limits string) string {
		return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h" + meta + "}\nspec: {scaleTargetRef: {" + target + "}" + limits + "}\n"
	}
	target := "apiVersion: apps/v1, kind: Deployment, name: a"
	checkSets(t, []setRow{
		{"both limits", docs(manifest("name: a"), scaler("", target, ", minReplicas: 2, maxReplicas: 9")), "Deployment a 2..9, 1 others"},
		{"before its target", docs(scaler("", target, ", maxReplicas: 9"), manifest("name: a")), "Deployment a 1..9, 1 others"},
		{"of one size", docs(manifest("name: a"), scaler("", target, ", minReplicas: 3, maxReplicas: 3")), "Deployment a 3..3, 1 others"},
		{"to zero", docs(manifest("name: a"), scaler("", target, ", minReplicas: 0, maxReplicas: 3")), "Deployment a, 1 others"},
		{"off at zero", docs(manifest("name: a", "replicas: 0"), scaler("", target, ", minReplicas: 2, maxReplicas: 9")), "Deployment a, 1 others"},
		{"zero is its minimum", docs(manifest("name: a", "replicas: 0"), scaler("", target, ", minReplicas: 0, maxReplicas: 3")), "Deployment a, 1 others"},
		{"no upper limit", docs(manifest("name: a"), scaler("", target, ", minReplicas: 2")), "Deployment a, 1 others"},
		{"limits crossed", docs(manifest("name: a"), scaler("", target, ", minReplicas: 5, maxReplicas: 3")), "Deployment a, 1 others"},
		{"limit not known", docs(manifest("name: a"), scaler("", target, ", maxReplicas: '${MAX}'")), "Deployment a, 1 others"},
		{"another namespace", docs(manifest("name: a"), scaler(", namespace: b", target, ", maxReplicas: 3")), "Deployment a, 1 others"},
		{"another kind", docs(manifest("name: a"), scaler("", "kind: StatefulSet, name: a", ", maxReplicas: 3")), "Deployment a, 1 others"},
		{"another name", docs(manifest("name: a"), scaler("", "kind: Deployment, name: b", ", maxReplicas: 3")), "Deployment a, 1 others"},
		{"no target", docs(manifest("name: a"), "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {maxReplicas: 3}\n"), "Deployment a, 1 others"},
		{"target of another group", docs(manifest("name: a"), scaler("", "apiVersion: example.com/v1, kind: Deployment, name: a", ", maxReplicas: 3")), "Deployment a, 1 others"},
		{"target of another version", docs(manifest("name: a"), scaler("", "apiVersion: apps/v1beta2, kind: Deployment, name: a", ", maxReplicas: 3")), "Deployment a 1..3, 1 others"},
		{"two", docs(manifest("name: a"), scaler("", target, ", maxReplicas: 3"), strings.Replace(scaler("", target, ", maxReplicas: 4"), "name: h", "name: i", 1)), "Deployment a, 2 others"},
		{"declared twice", docs(manifest("name: a"), scaler("", target, ", maxReplicas: 3"), scaler("", target, ", maxReplicas: 4")), "Deployment a 1..4, 2 others"},
		{"of another group", docs(manifest("name: a"), strings.Replace(scaler("", target, ", maxReplicas: 3"), "autoscaling/v2", "example.com/v1", 1)), "Deployment a, 1 others"},
	})
}

// scaledObject returns a KEDA autoscaler.
func scaledObject(meta, target, limits string) string {
	return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: k" + meta + "}\nspec: {scaleTargetRef: {" + target + "}" + limits + "}\n"
}

// TestScaledObjects covers KEDA autoscalers and their defaults.
func TestScaledObjects(t *testing.T) {
	set := strings.Replace(manifest("name: a"), "Deployment", "StatefulSet", 1)
	hpa := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: keda-hpa-k}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 7}\n"
	checkSets(t, []setRow{
		{"defaults", docs(manifest("name: a"), scaledObject("", "name: a", "")), "Deployment a 0..100, 1 others"},
		{"both limits", docs(manifest("name: a"), scaledObject("", "name: a", ", minReplicaCount: 2, maxReplicaCount: 9")), "Deployment a 2..9, 1 others"},
		{"starts at zero", docs(manifest("name: a", "replicas: 0"), scaledObject("", "name: a", ", minReplicaCount: 2, maxReplicaCount: 9")), "Deployment a 2..9, 1 others"},
		{"idle", docs(manifest("name: a"), scaledObject("", "name: a", ", minReplicaCount: 2, idleReplicaCount: 0")), "Deployment a 0..100, 1 others"},
		{"idle not known", docs(manifest("name: a"), scaledObject("", "name: a", ", minReplicaCount: 2, idleReplicaCount: '${I}'")), "Deployment a 0..100, 1 others"},
		{"paused", docs(manifest("name: a"), scaledObject(", annotations: {autoscaling.keda.sh/paused-replicas: '0'}", "name: a", ", minReplicaCount: 2")), "Deployment a, 1 others"},
		{"paused at any number", docs(manifest("name: a"), scaledObject(", annotations: {autoscaling.keda.sh/paused: 'true'}", "name: a", ", minReplicaCount: 2")), "Deployment a 0..100, 1 others"},
		{"limits crossed", docs(manifest("name: a"), scaledObject("", "name: a", ", minReplicaCount: 9, maxReplicaCount: 3")), "Deployment a, 1 others"},
		{"limit not known", docs(manifest("name: a"), scaledObject("", "name: a", ", maxReplicaCount: '${N}'")), "Deployment a, 1 others"},
		{"another kind", docs(set, scaledObject("", "kind: StatefulSet, name: a", "")), "StatefulSet a 0..100, 1 others"},
		{"not of that kind", docs(set, scaledObject("", "name: a", "")), "StatefulSet a, 1 others"},
		{"of a rollout", docs(manifest("name: a", "replicas: 0"), argo("name: r", toDeployment), scaledObject("", "apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: r", "")), "Rollout r 0..100, 2 others"},
		{"rollout, wrong group", docs(argo("name: a", "selector: {matchLabels: {app: a}}\n  template: {spec: {containers: [{name: c}]}}"), scaledObject("", "kind: Rollout, name: a", "")), "Rollout a, 1 others"},
		{"before its autoscaler", docs(manifest("name: a"), scaledObject("", "name: a", ""), hpa), "Deployment a 0..100, 2 others"},
		{"after its autoscaler", docs(manifest("name: a"), hpa, scaledObject("", "name: a", "")), "Deployment a 0..100, 2 others"},
		{"beside another autoscaler", docs(manifest("name: a"), strings.Replace(hpa, "keda-hpa-k", "h", 1), scaledObject("", "name: a", "")), "Deployment a, 2 others"},
		{"of another group", docs(manifest("name: a"), strings.Replace(scaledObject("", "name: a", ""), "keda.sh", "example.com", 1)), "Deployment a, 1 others"},
	})
}

// TestClamped checks the pod count that an autoscaler leaves.
func TestClamped(t *testing.T) {
	target := "apiVersion: apps/v1, kind: Deployment, name: a"
	for _, row := range []struct {
		replicas, scaler string
		want             int
	}{
		{"", scaledObject("", target, ", minReplicaCount: 3, maxReplicaCount: 5"), 3},
		{"replicas: 4", scaledObject("", target, ", minReplicaCount: 3, maxReplicaCount: 5"), 4},
		{"replicas: 9", scaledObject("", target, ", minReplicaCount: 3, maxReplicaCount: 5"), 5},
		{"replicas: 0", scaledObject("", target, ", minReplicaCount: 3, maxReplicaCount: 5"), 3},
		{"replicas: 0", scaledObject("", target, ""), 0},
		{"replicas: 4", scaledObject(", annotations: {autoscaling.keda.sh/paused-replicas: '2'}", target, ", minReplicaCount: 3"), 2},
		{"replicas: 4", scaledObject("", target, ", minReplicaCount: 5") + "---\n" + strings.Replace(scaledObject("", target, ", minReplicaCount: 6"), "name: k", "name: l", 1), 4},
	} {
		w := loadSet(t, docs(manifest("name: a", row.replicas), row.scaler)).Workloads[0]
		if !w.Count.Known || w.Count.N != row.want {
			t.Errorf("%s, %s: %d pods, want %d", row.replicas, row.scaler, w.Count.N, row.want)
		}
	}
}

// TestScaleSpans checks that the locations are those of the limits, or that of the name for a
// default.
func TestScaleSpans(t *testing.T) {
	for _, row := range []struct{ limits, want string }{
		{"", "min name: k max name: k by default"},
		{", minReplicaCount: 2", "min minReplicaCount: 2 max name: k by default"},
		{", minReplicaCount: 2, idleReplicaCount: 0", "min idleReplicaCount: 0 max name: k by default"},
		{", maxReplicaCount: 9", "min name: k max maxReplicaCount: 9"},
	} {
		w := loadSet(t, docs(manifest("name: a"), scaledObject("", "name: a", row.limits))).Workloads[0]
		s, line := w.Scale, w.Object.File.Line
		got := fmt.Sprintf("min %s max %s", line(s.MinSpan.Line)[s.MinSpan.Column-1:s.MinSpan.EndColumn-1], line(s.MaxSpan.Line)[s.MaxSpan.Column-1:s.MaxSpan.EndColumn-1])
		if s.MaxDefault {
			got += " by default"
		}
		if got != row.want || s.Kind != "ScaledObject" || s.Object.Name != "k" {
			t.Errorf("%s: got %s, want %s", row.limits, got, row.want)
		}
	}
}
