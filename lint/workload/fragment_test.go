package workload

import (
	"strings"
	"testing"
)

// fragmentRows are the specs of a custom resource: whether it is counted, and what
// is refused of the fields that are the core API's, by map.
var fragmentRows = map[string]struct {
	spec    string
	counted bool
	want    []string
}{
	"none":                        {spec: "{replicas: 3}"},
	"empty":                       {spec: "{affinity: {}, tolerations: [], nodeSelector: {}, topologySpreadConstraints: null}"},
	"words":                       {spec: "{affinity: cookie, tolerations: x, nodeSelector: []}"},
	"core":                        {spec: "{nodeSelector: {a: b}}", counted: true, want: []string{""}},
	"twice":                       {spec: "{a: {nodeSelector: {a: b}}, b: [x, {tolerations: [{operator: Exists}]}]}", counted: true, want: []string{"", ""}},
	"a wrong value":               {spec: "{tolerations: [{key: a, operator: Exist}]}", counted: true, want: []string{"spec.tolerations[0].operator"}},
	"in a list":                   {spec: "{parts: [{}, {topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}]}", counted: true, want: []string{"spec.parts[1].topologySpreadConstraints[0].maxSkew"}},
	"a field of the operator":     {spec: "{affinity: {enabled: true, podAntiAffinity: {}}}", counted: true},
	"a field of the operator, in": {spec: "{tolerations: [{key: a, operator: Exist, when: b}]}", counted: true},
	"one of them its own":         {spec: "{affinity: {enabled: true}, tolerations: [{operator: Exist}]}", counted: true},
	"below its own":               {spec: "{affinity: {enabled: true, tolerations: [{operator: Exist}]}}", counted: true},
	"beside its own":              {spec: "{affinity: {enabled: true}, x: {tolerations: [{operator: Exist, key: ''}]}}", counted: true, want: []string{"spec.x.tolerations[0].operator"}},
	"another type":                {spec: "{nodeSelector: {a: 1}}", counted: true},
	"a label selector":            {spec: "{nodeSelector: {matchLabels: {a: b}}}", counted: true},
	"a variable":                  {spec: "{nodeSelector: {a: '${X}'}, tolerations: [{operator: '{{ x }}'}]}", counted: true, want: []string{""}},
	"affinity without its map":    {spec: "{placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}", counted: true},
	"keys of the pods' labels":    {spec: "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [a]}]}", counted: true, want: []string{""}},
	"keys without a selector":     {spec: "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]}", counted: true, want: []string{"spec.topologySpreadConstraints[0].matchLabelKeys"}},
}

func TestFragments(t *testing.T) {
	for name, row := range fragmentRows {
		set := loadSet(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: "+row.spec+"\n")
		if got := len(set.NotJudged) == 1; got != row.counted || len(set.Workloads) > 0 {
			t.Errorf("%s: counted is %v", name, got)
		}
		var got []string
		for _, w := range set.Fragments {
			var fields []string
			for _, p := range w.Problems {
				fields = append(fields, p.Field)
				if p.Stage != StageFragment || p.Span.IsZero() {
					t.Errorf("%s: stage %s at %v", name, p.Stage, p.Span)
				}
			}
			got = append(got, strings.Join(fields, " "))
		}
		if strings.Join(got, "|") != strings.Join(row.want, "|") || len(got) != len(row.want) {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// TestNoFragments leaves alone what is judged, and kinds that make no pods.
func TestNoFragments(t *testing.T) {
	for _, head := range []string{"apiVersion: v1\nkind: ConfigMap", "apiVersion: networking.k8s.io/v1\nkind: Ingress", "apiVersion: v1\nkind: Pod", "apiVersion: kyverno.io/v1\nkind: ClusterPolicy", "apiVersion: mutations.gatekeeper.sh/v1\nkind: Assign"} {
		set := loadSet(t, head+"\nmetadata: {name: a}\nspec: {tolerations: [{operator: Exist}], containers: [{name: a}]}\n")
		if len(set.Fragments)+len(set.NotJudged) > 0 {
			t.Errorf("%s: got %d fragments, %d not judged", head, len(set.Fragments), len(set.NotJudged))
		}
	}
}
