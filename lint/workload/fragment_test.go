package workload

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// fragmentRows has specs of a custom resource. Each row says whether the object is counted, and
// which fields in the form of the core API are refused in each map.
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
	"text templates of ytt":       {spec: "{nodeSelector: {(@= key @): (@= value @)}, tolerations: [{operator: 'Ex(@= x @)'}]}", counted: true, want: []string{""}},
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

// TestNoFragments checks that judged objects and kinds that create no pods are not searched.
func TestNoFragments(t *testing.T) {
	for _, head := range []string{"apiVersion: v1\nkind: ConfigMap", "apiVersion: networking.k8s.io/v1\nkind: Ingress", "apiVersion: v1\nkind: Pod", "apiVersion: kyverno.io/v1\nkind: ClusterPolicy", "apiVersion: mutations.gatekeeper.sh/v1\nkind: Assign"} {
		set := loadSet(t, head+"\nmetadata: {name: a}\nspec: {tolerations: [{operator: Exist}], containers: [{name: a}]}\n")
		if len(set.Fragments)+len(set.NotJudged) > 0 {
			t.Errorf("%s: got %d fragments, %d not judged", head, len(set.Fragments), len(set.NotJudged))
		}
	}
}

// valuesRows has chart values with the fields that are refused. Omissions that the chart may fill
// are not refused.
var valuesRows = map[string]struct {
	values string
	want   string
}{
	"a wrong value":           {"{tolerations: [{key: a, operator: Exist}]}", "tolerations[0].operator"},
	"no skew, no key":         {"{topologySpreadConstraints: [{whenUnsatisfiable: ScheduleAnyway}]}", ""},
	"no action":               {"{topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]}", ""},
	"a skew of 0":             {"{topologySpreadConstraints: [{maxSkew: 0}]}", "topologySpreadConstraints[0].maxSkew"},
	"an empty key":            {"{topologySpreadConstraints: [{topologyKey: ''}]}", "topologySpreadConstraints[0].topologyKey"},
	"keys without a selector": {"{topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]}", ""},
	"no operator":             {"{tolerations: [{effect: NoSchedule}]}", ""},
	"terms of the chart":      {"{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", ""},
	"no terms":                {"{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}", "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
	"a term without a key":    {"{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}}", "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"},
	"a weight of 0":           {"{affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: a}}]}}}", "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
	"no values":               {"{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}}", "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values"},
	"a slip":                  {"{tolerations: [{key: a, tolerationSecond: 3}]}", "unknown tolerations[0].tolerationSecond"},
	"a short name":            {"{tolerations: [{key: a, efect: NoSchedule, tolerationSecond: 3}]}", ""},
	"a slip in capitals":      {"{affinity: {podAntiaffinity: {}}, tolerations: [{operator: Exist}]}", "tolerations[0].operator unknown affinity.podAntiaffinity"},
	"a slip below":            {"{topologySpreadConstraints: [{topologyKeys: a}]}", "unknown topologySpreadConstraints[0].topologyKeys"},
	"one of the chart's":      {"{affinity: {podAffinityPreset: soft}, tolerations: [{operator: Exist}]}", ""},
	"near one, right below":   {"{affinity: {podAffinitys: soft}, tolerations: [{operator: Exist}]}", ""},
	"a field of the chart":    {"{affinity: {type: soft}}", ""},
}

func TestValues(t *testing.T) {
	for name, row := range valuesRows {
		all := source.LoadText(source.Options{}, "a.yaml", []byte("apiVersion: example.com/v1\nkind: Release\nmetadata: {name: a}\nspec: {values: {master: "+row.values+"}, nodeSelector: {'*': b}}\n")).Objects
		reader := NewReader(NewTable())
		reader.Values = func(o *source.Object) *Given {
			return &Given{Values: []Values{{Node: o.Root.At("spec", "values", "master"), File: o.File, Path: "master"}}}
		}
		set := reader.Load(all, nil)
		if len(set.NotJudged) != 1 {
			t.Errorf("%s: %d objects are counted", name, len(set.NotJudged))
		}
		var got []string
		for _, w := range set.Fragments {
			for _, p := range w.Problems {
				got = append(got, p.Field)
				if p.Stage != StageFragment || p.Span.IsZero() {
					t.Errorf("%s: stage %s at %v", name, p.Stage, p.Span)
				}
			}
			for _, u := range w.Unknown {
				got = append(got, "unknown "+u.Field)
			}
			if w.String() != "Release a, values master" {
				t.Errorf("%s: %s", name, w)
			}
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// TestNothingGiven checks that only the chart values of an object are examined, and that the object
// is foreign if some of its values were left out.
func TestNothingGiven(t *testing.T) {
	for _, left := range []bool{false, true} {
		all := source.LoadText(source.Options{}, "a.yaml", []byte("apiVersion: example.com/v1\nkind: Release\nmetadata: {name: a}\nspec: {nodeSelector: {'*': b}}\n")).Objects
		reader := NewReader(NewTable())
		reader.Values = func(*source.Object) *Given { return &Given{Left: left} }
		if set := reader.Load(all, nil); len(set.Fragments) != 0 || (len(set.Foreign) == 1) != left {
			t.Errorf("left %v: %d fragments, %d are open", left, len(set.Fragments), len(set.Foreign))
		}
	}
}

// Manifests with slots for a field at every level.
const (
	deploymentSlots = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nROOTspec:\n  selector: {matchLabels: {app: a}}\n  SPEC\n  template:\n    metadata: {labels: {app: a}}\n    TEMPLATE\n    spec:\n      containers: [{name: c}]\n      POD\n"
	cronSlots       = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nROOTspec:\n  schedule: x\n  SPEC\n  jobTemplate:\n    spec:\n      template:\n        TEMPLATE\n        spec:\n          containers: [{name: c}]\n          POD\n"
	podSlots        = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nROOTspec:\n  containers: [{name: c}]\n  POD\n"
	machineSlots    = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nROOTspec:\n  SPEC\n  template:\n    TEMPLATE\n    spec:\n      domain: {}\n      POD\n"
	poolSlots       = "apiVersion: pool.kubevirt.io/v1beta1\nkind: VirtualMachinePool\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  virtualMachineTemplate:\n    spec:\n      SPEC\n      template:\n        spec:\n          domain: {}\n          POD\n"
)

// strays has fields that are misspelled or at the wrong level, with the resulting messages.
var strays = []struct{ frame, at, field, want string }{
	{deploymentSlots, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
	{deploymentSlots, "POD", "topologySpreadConstraint: []", "spec.template.spec.topologySpreadConstraint: topologySpreadConstraints"},
	{deploymentSlots, "POD", "toleration: []", "spec.template.spec.toleration: tolerations"},
	{deploymentSlots, "POD", "afinity: {}", "spec.template.spec.afinity: affinity"},
	{deploymentSlots, "POD", "podAntiAffinity: {}", "spec.template.spec.podAntiAffinity: "},
	{deploymentSlots, "POD", "terminationGracePeriodSeconds: 3", ""},
	{deploymentSlots, "POD", "dnsPolicy: Default", ""},
	{deploymentSlots, "POD", "affinity: {podAntiAfinity: {}}", "spec.template.spec.affinity.podAntiAfinity: podAntiAffinity"},
	{deploymentSlots, "POD", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologykey: x}]}}", "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologykey: topologyKey"},
	{deploymentSlots, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
	{deploymentSlots, "TEMPLATE", "specs: {}", "spec.template.specs: spec"},
	{deploymentSlots, "TEMPLATE", "annotations: {}", ""},
	{deploymentSlots, "SPEC", "affinity: {}", "spec.affinity: spec.template.spec.affinity"},
	{deploymentSlots, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
	{deploymentSlots, "SPEC", "tolerations: []", "spec.tolerations: spec.template.spec.tolerations"},
	{deploymentSlots, "SPEC", "topologySpreadConstraints: []", "spec.topologySpreadConstraints: spec.template.spec.topologySpreadConstraints"},
	{deploymentSlots, "SPEC", "replica: 3", "spec.replica: replicas"},
	{deploymentSlots, "SPEC", "startegy: {}", "spec.startegy: strategy"},
	{deploymentSlots, "SPEC", "replicas: 3", ""},
	{deploymentSlots, "SPEC", "quite_different: 3", ""},
	{deploymentSlots, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
	{deploymentSlots, "ROOT", "status: {}", ""},
	{deploymentSlots, "ROOT", "sops: {}", ""},
	{cronSlots, "SPEC", "tolerations: []", "spec.tolerations: spec.jobTemplate.spec.template.spec.tolerations"},
	{cronSlots, "TEMPLATE", "nodeSelector: {a: b}", "spec.jobTemplate.spec.template.nodeSelector: spec.jobTemplate.spec.template.spec.nodeSelector"},
	{cronSlots, "SPEC", "concurencyPolicy: Allow", "spec.concurencyPolicy: concurrencyPolicy"},
	{cronSlots, "POD", "nodeSelectors: {a: b}", "spec.jobTemplate.spec.template.spec.nodeSelectors: nodeSelector"},
	{podSlots, "ROOT", "nodeSelector: {a: b}", "nodeSelector: spec.nodeSelector"},
	{podSlots, "POD", "nodeName: x", ""},
	{podSlots, "POD", "nodename: x", "spec.nodename: nodeName"},
	{machineSlots, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
	{machineSlots, "SPEC", "dataVolumeTemplates: []", ""},
	{machineSlots, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
	{machineSlots, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
	{machineSlots, "POD", "evictionStrategy: LiveMigrate", ""},
	{machineSlots, "POD", "affinity: {podAfinity: {}}", "spec.template.spec.affinity.podAfinity: podAffinity"},
	{machineSlots, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
	{poolSlots, "SPEC", "affinity: {}", "spec.virtualMachineTemplate.spec.affinity: spec.virtualMachineTemplate.spec.template.spec.affinity"},
	{poolSlots, "POD", "toleration: []", "spec.virtualMachineTemplate.spec.template.spec.toleration: tolerations"},
}

// TestEnvelope checks that fields are found that are misspelled or at the wrong level. The API
// server silently drops them or refuses the object.
func TestEnvelope(t *testing.T) {
	for _, row := range strays {
		text := strings.Replace(row.frame, row.at, row.field, 1)
		if row.at == "ROOT" {
			text = strings.Replace(row.frame, "ROOT", row.field+"\n", 1)
		}
		for _, rest := range []string{"ROOT", "SPEC", "TEMPLATE", "POD"} {
			text = strings.Replace(text, rest, "", 1)
		}
		set := loadSet(t, text)
		if len(set.Workloads) != 1 {
			t.Fatalf("%s\n%s", summary(set), text)
		}
		w := set.Workloads[0]
		got := ""
		for _, u := range w.Unknown {
			got += fmt.Sprintf("%s: %s", u.Field, u.Suggestion)
			name, _, _ := strings.Cut(row.field, ":")
			if line := w.File().Line(u.KeySpan.Line); !strings.Contains(row.field, line[u.KeySpan.Column-1:u.KeySpan.EndColumn-1]) {
				t.Errorf("%s: points at %q", name, line)
			}
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s\n%s", row.field, got, row.want, text)
		}
	}
}

// TestEnvelopes compares the fields around pod specs with those of the API's types.
func TestEnvelopes(t *testing.T) {
	decoder, template := newDecoder(), reflect.TypeFor[corev1.PodTemplateSpec]()
	of := func(spec reflect.Type) map[string]reflect.Type {
		return map[string]reflect.Type{"spec": spec, "spec.template": template}
	}
	types := map[string]map[string]reflect.Type{
		"Deployment":            of(reflect.TypeFor[appsv1.DeploymentSpec]()),
		"ReplicaSet":            of(reflect.TypeFor[appsv1.ReplicaSetSpec]()),
		"StatefulSet":           of(reflect.TypeFor[appsv1.StatefulSetSpec]()),
		"DaemonSet":             of(reflect.TypeFor[appsv1.DaemonSetSpec]()),
		"ReplicationController": of(reflect.TypeFor[corev1.ReplicationControllerSpec]()),
		"Job":                   of(reflect.TypeFor[batchv1.JobSpec]()),
		rolloutKind:             {"spec.template": template},
		"CronJob": {
			"spec":                           reflect.TypeFor[batchv1.CronJobSpec](),
			"spec.jobTemplate":               reflect.TypeFor[batchv1.JobTemplateSpec](),
			"spec.jobTemplate.spec":          reflect.TypeFor[batchv1.JobSpec](),
			"spec.jobTemplate.spec.template": template,
		},
	}
	for kind, levels := range envelopes() {
		for path, got := range levels {
			if api := types[kind][path]; api == nil && kind != rolloutKind {
				t.Errorf("%s %s: the test has no type", kind, path)
			} else if api != nil && !slices.Equal(got, decoder.Names(api)) {
				t.Errorf("%s %s: got %v, want %v", kind, path, got, decoder.Names(api))
			}
		}
	}
}

// TestFragmentsBesideOperatedPods checks a custom resource with two placement rules. The operator uses the
// first one for its pods, so only the second, which schedlint does not know, is a fragment.
func TestFragmentsBesideOperatedPods(t *testing.T) {
	const apart = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}"
	set := loadSet(t, "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: a}\nspec:\n  replicas: 2\n  "+apart+"\n  other:\n    "+apart+"\n")
	if len(set.Workloads) != 1 || len(set.Fragments) != 1 || set.Fragments[0].SpecNode.Line < 8 {
		t.Errorf("%d workloads, %d fragments", len(set.Workloads), len(set.Fragments))
	}
}
