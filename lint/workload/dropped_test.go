package workload

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// release is a version for tests.
func release(t testing.TB, text string) versions.Version {
	t.Helper()
	v, err := versions.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// loadIn is like loadSet, for a cluster of a version.
func loadIn(t testing.TB, v versions.Version, text string) *Set {
	t.Helper()
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil || len(set.Problems) > 0 {
		t.Fatal(err, set.Problems)
	}
	r := NewReader(NewTable())
	r.Kubernetes = v
	return r.Load(set.Objects, nil)
}

// strip removes from a manifest what the API server of Kubernetes 1.minor drops. It shares nothing
// with the code that it checks.
func strip(o map[string]any, minor int) {
	spec, _ := o["spec"].(map[string]any)
	if o["kind"] != "Pod" {
		for _, name := range []string{"jobTemplate", "spec", "template", "spec"} {
			if next, ok := spec[name].(map[string]any); ok {
				spec = next
			}
		}
	}
	if minor < 34 {
		delete(spec, "resources")
	}
	if containers, ok := spec["initContainers"].([]any); ok && minor < 29 {
		for _, c := range containers {
			delete(c.(map[string]any), "restartPolicy")
		}
	}
	if affinity, ok := spec["affinity"].(map[string]any); ok && minor < 31 {
		for _, use := range []string{"podAffinity", "podAntiAffinity"} {
			of, _ := affinity[use].(map[string]any)
			required, _ := of["requiredDuringSchedulingIgnoredDuringExecution"].([]any)
			preferred, _ := of["preferredDuringSchedulingIgnoredDuringExecution"].([]any)
			for _, term := range slices.Concat(required, preferred) {
				term := term.(map[string]any)
				if inner, ok := term["podAffinityTerm"].(map[string]any); ok {
					term = inner
				}
				delete(term, "matchLabelKeys")
				delete(term, "mismatchLabelKeys")
			}
		}
	}
}

// TestDroppedFields compares random objects in a version with the same objects without the fields
// that the version drops. Their pods and the fields that the API server rejects are equal.
func TestDroppedFields(t *testing.T) {
	dropped := map[string]int{}
	for i := range trials.Seeds(t, trials.Of(t, 4000)) {
		family := []string{"mixed", "invalid", "anti-affinity", "resources"}[i%4]
		text, err := json.Marshal(clusters.Generate(family, 17, uint64(i)).Manifests)
		if err != nil {
			t.Fatal(err)
		}
		var objects []map[string]any
		if err := json.Unmarshal(text, &objects); err != nil {
			t.Fatal(err)
		}
		v := versions.Version{Minor: 28 + i/4%9, Patch: i % 7}
		var full, less strings.Builder
		for _, o := range objects {
			before, _ := json.Marshal(o)
			strip(o, v.Minor)
			after, _ := json.Marshal(o)
			fmt.Fprintf(&full, "---\n%s\n", before)
			fmt.Fprintf(&less, "---\n%s\n", after)
		}
		got, want := loadIn(t, v, full.String()), loadIn(t, versions.Version{}, less.String())
		if len(got.Workloads) != len(want.Workloads) {
			t.Fatalf("case %d: %d workloads, want %d", i, len(got.Workloads), len(want.Workloads))
		}
		for j, w := range got.Workloads {
			other := want.Workloads[j]
			for k, c := range other.Spec.InitContainers {
				if c.RestartPolicy == "Always" && (v.Minor < 33 || v.Minor == 33 && v.Patch < 6) { // the scheduler does not count them
					other.Spec.InitContainers[k].Ports = nil
				}
			}
			refused := func(w *Workload) (all []string) {
				for _, p := range w.Problems {
					spread := strings.Contains(p.Field, "topologySpreadConstraints") && strings.Contains(p.Field, "matchLabelKeys") // R-V22
					if !spread && (w.Object.Kind != "StatefulSet" || !strings.HasSuffix(p.Field, "maxUnavailable")) {
						all = append(all, p.Field+": "+p.Message)
					}
				}
				return all
			}
			if !reflect.DeepEqual(w.Spec, other.Spec) || !source.Equal(w.SpecNode, other.SpecNode) || !slices.Equal(refused(w), refused(other)) {
				t.Fatalf("case %d: %s in %s\n%s\nSpec %+v\nwant %+v\nrefused %q\nwant %q", i, w, v, full.String(), w.Spec, other.Spec, refused(w), refused(other))
			}
			for _, p := range w.Gated {
				if p.Stage == StageVersion {
					dropped[p.Gate]++
				}
			}
		}
	}
	for _, gate := range []string{"MatchLabelKeysInPodAffinity", "SidecarContainers", "PodLevelResources"} {
		if dropped[gate] == 0 && !trials.Few(t) {
			t.Errorf("no case has a field of %s: %v", gate, dropped)
		}
	}
}

// TestDropped checks for each field what is dropped one release before it is kept, and then.
func TestDropped(t *testing.T) {
	const meta = "metadata: {name: a}\n"
	web := func(pod string) string {
		return "apiVersion: apps/v1\nkind: Deployment\n" + meta + `spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {` +
			"containers: [{name: c, image: c}], " + pod + "}}}"
	}
	for _, test := range []struct{ before, from, text, field string }{
		{"1.30", "1.31", web("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {}, mismatchLabelKeys: [b]}}]}}"),
			"spec.template.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.mismatchLabelKeys"},
		{"1.30.14", "1.31.0", web("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}, matchLabelKeys: [b]}]}}"),
			"spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys"},
		{"1.28", "1.29", web("initContainers: [{name: a, image: a}, {name: b, image: b, restartPolicy: Always}]"), "spec.template.spec.initContainers[1].restartPolicy"},
		{"1.33", "1.34", web("resources: {requests: {cpu: 1}}"), "spec.template.spec.resources"},
		{"1.33", "1.34", web("resourceClaims: [{name: a, resourceClaimName: b}]"), "spec.template.spec.resourceClaims"},
		{"1.28", "1.29", "apiVersion: batch/v1\nkind: Job\n" + meta + "spec: {podReplacementPolicy: Failed, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}", "spec.podReplacementPolicy"},
		{"1.28", "1.29", "apiVersion: batch/v1\nkind: CronJob\n" + meta + "spec: {schedule: '@daily', jobTemplate: {spec: {podReplacementPolicy: Failed, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}}", "spec.jobTemplate.spec.podReplacementPolicy"},
		{"1.34", "1.35", set("2"), "spec.updateStrategy.rollingUpdate.maxUnavailable"},
		{"1.36", "1.35.3", set("2"), "spec.updateStrategy.rollingUpdate.maxUnavailable"},
		{"1.30", "1.31", "apiVersion: example.com/v1\nkind: Redis\n" + meta + "spec: {resources: {requests: {cpu: 1}}, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}, matchLabelKeys: [b]}]}}}",
			"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys"},
		{"1.30", "1.31", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n" + meta + "spec: {runStrategy: Always, template: {spec: {domain: {}, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}, mismatchLabelKeys: [b]}]}}}}}",
			"spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys"},
	} {
		for version, want := range map[string]string{test.before: test.field, test.from: ""} {
			s := loadIn(t, release(t, version), test.text)
			got := ""
			for _, w := range slices.Concat(s.Workloads, s.Fragments) {
				for _, p := range w.Gated {
					got += p.Field
					if p.Stage != StageVersion || p.Span.IsZero() {
						t.Errorf("%s in %s: %+v", test.field, version, p)
					}
				}
				if len(w.Problems) > 0 {
					t.Errorf("%s in %s: rejected: %+v", test.field, version, w.Problems)
				}
			}
			if got != want {
				t.Errorf("%s: dropped %q, want %q\n%s", version, got, want, test.text)
			}
		}
	}
}

// set is a StatefulSet of 3 pods with a maxUnavailable.
func set(unavailable string) string {
	return "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {replicas: 3, serviceName: a, updateStrategy: {rollingUpdate: {maxUnavailable: " + unavailable +
		"}}, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}"
}

// TestMaxUnavailableByVersion checks how many pods of a StatefulSet a rollout replaces at once, and
// whether a value that is invalid is dropped, rejected or left open.
func TestMaxUnavailableByVersion(t *testing.T) {
	for _, test := range []struct {
		version      string
		unavailable  int
		open         bool
		gated, wrong int
	}{
		{"", 2, true, 1, 0}, {"1.34", 1, false, 0, 0}, {"1.35", 2, true, 1, 0}, {"1.35.0", 2, false, 0, 1}, {"1.35.3", 2, false, 0, 1}, {"1.35.4", 1, false, 0, 0}, {"1.36", 1, false, 0, 0},
	} {
		v := versions.Version{}
		if test.version != "" {
			v = release(t, test.version)
		}
		r := loadIn(t, v, set("2")).Workloads[0].Rollout(3)
		if r.Unavailable != test.unavailable || r.Unknown.Given() != test.open {
			t.Errorf("%q: %d at once, unknown: %v", test.version, r.Unavailable, r.Unknown)
		}
		if one := loadIn(t, v, set("1")).Workloads[0].Rollout(3); one.Unavailable != 1 || one.Unknown.Given() {
			t.Errorf("%q: %d at once of 1, unknown: %v", test.version, one.Unavailable, one.Unknown)
		}
		w := loadIn(t, v, set("0")).Workloads[0]
		gated := slices.DeleteFunc(w.Gated, func(p Problem) bool { return p.Stage != StageGate })
		if len(gated) != test.gated || len(w.Problems) != test.wrong {
			t.Errorf("%q: a value of 0: gated %v, rejected %v", test.version, gated, w.Problems)
		}
	}
}

// TestSpreadKeysByVersion checks a key that a spread constraint lists twice, or in its selector as
// well (R-V22).
func TestSpreadKeysByVersion(t *testing.T) {
	for keys, want := range map[string][2]int{"[app, app]": {0, 1}, "[tier]": {1, 0}, "[v]": {0, 0}} { // before 1.34 and from then on
		text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}], " +
			"topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {tier: x}}, matchLabelKeys: " + keys + "}]}}}"
		for i, version := range []string{"1.33", "1.34"} {
			if got := len(loadIn(t, release(t, version), text).Workloads[0].Problems); got != want[i] {
				t.Errorf("%s in %s: %d problems, want %d", keys, version, got, want[i])
			}
		}
	}
}

// TestIndexLabels checks that pods have an index label from 1.28 on.
func TestIndexLabels(t *testing.T) {
	for version, want := range map[string]bool{"1.27": false, "1.28": true} {
		w := loadIn(t, release(t, version), set("1")).Workloads[0]
		if added, _ := w.Added("apps.kubernetes.io/pod-index"); added != want {
			t.Errorf("%s: %v", version, added)
		}
		if added, perPod := w.Added("statefulset.kubernetes.io/pod-name"); !added || !perPod {
			t.Errorf("%s: no pod-name", version)
		}
	}
}
