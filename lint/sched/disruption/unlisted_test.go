package disruption_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestUnlistedResource checks that answers about changes are unknown for pods that request a
// resource that no node lists.
func TestUnlistedResource(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: a, count: 3, allocatable: {cpu: \"4\"}}]\n"
	const gpu = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: gpu}, spec: {replicas: 2, selector: {matchLabels: {app: gpu}}, template: {metadata: {labels: {app: gpu}}, spec: {containers: [{name: c, image: c, resources: {limits: {example.com/gpu: 1}}}]}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: gpu}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gpu}, minReplicas: 2, maxReplicas: 3}}
`
	j, m := judge(t, nodes, gpu)
	w := find(t, m, "gpu")
	told := map[string]model.Reason{}
	for _, r := range j.Rollouts(w) {
		if r.Verdict != diag.Unknown {
			t.Errorf("a rollout of %d: %s", r.Replicas, r.Verdict)
		}
		told["rollout"] = r.Why
	}
	if d := j.Drain(w); d.Answer != diag.Unknown {
		t.Errorf("drain: %s", d.Answer)
	} else {
		told["drain"] = d.Why
	}
	if s := j.Scaling(w); s.Answer != diag.Unknown {
		t.Errorf("scaling: %s", s.Answer)
	} else {
		told["scaling"] = s.Why
	}
	losses := j.Survives(w, keys[host])
	if len(losses) == 0 {
		t.Error("no answer about losses")
	}
	for _, s := range losses {
		if s.Verdict != diag.Unknown {
			t.Errorf("loss of %s: %s", s.Value, s.Verdict)
		}
		told["loss"] = s.Why
	}
	for about, why := range told {
		if why.Name != "example.com/gpu" {
			t.Errorf("%s: %+v does not name the resource", about, why)
		}
	}
}

// TestBesideUnlisted checks that an answer about other pods holds whether those pods are in place
// or not.
func TestBesideUnlisted(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: a, count: 3, allocatable: {cpu: \"4\"}}]\n"
	load := func(name string, replicas int, limits string) string {
		return strings.NewReplacer("NAME", name, "REPLICAS", string(rune('0'+replicas)), "LIMITS", limits).Replace(`---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {replicas: REPLICAS, selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {containers: [{name: c, image: c, resources: {limits: {LIMITS}}}]}}}}
`)
	}
	for _, c := range []struct {
		name, gpu string
		rollout   diag.Outcome
		drain     diag.Outcome
	}{
		{"room for all", "cpu: 1, example.com/gpu: 1", diag.Always, diag.Always},
		{"too little for all", "cpu: 3, example.com/gpu: 1", diag.Unknown, diag.Unknown},
	} {
		j, m := judge(t, nodes, load("gpu", 3, c.gpu)+load("web", 3, "cpu: 1"))
		w := find(t, m, "web")
		if r := j.Rollouts(w)[0]; r.Verdict != c.rollout || r.Verdict == diag.Unknown && r.Why.Name != "example.com/gpu" {
			t.Errorf("%s: a rollout is %s (%+v), want %s", c.name, r.Verdict, r.Why, c.rollout)
		}
		if d := j.Drain(w); d.Answer != c.drain {
			t.Errorf("%s: a drain is %s (%+v), want %s", c.name, d.Answer, d.Why, c.drain)
		}
	}
}
