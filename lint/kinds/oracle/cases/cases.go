// Package cases makes custom resources at random, with everything in them that decides where pods
// can run, and records the pods that an operator's own code makes of them.
package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Object is a custom resource or a part of one, as in a manifest.
type Object = map[string]any

// Pod has the fields that decide where the pods of one group run.
type Pod struct {
	Name                      string                            `json:"name"`
	Replicas                  int32                             `json:"replicas"`
	Labels                    map[string]string                 `json:"labels,omitempty"`
	Affinity                  *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations               []corev1.Toleration               `json:"tolerations,omitempty"`
	NodeSelector              map[string]string                 `json:"nodeSelector,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	PriorityClassName         string                            `json:"priorityClassName,omitempty"`
	SchedulerName             string                            `json:"schedulerName,omitempty"`
	HostNetwork               bool                              `json:"hostNetwork,omitempty"`
	Requests                  corev1.ResourceList               `json:"requests,omitempty"`
}

// Of returns the pods that an operator makes with this metadata and spec. The requests are the pods'
// own once the API server has set those that follow from limits.
func Of(name string, replicas int32, meta metav1.ObjectMeta, spec corev1.PodSpec) Pod {
	spec = *spec.DeepCopy()
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			resources := &containers[i].Resources
			requests := maps.Clone(resources.Limits)
			if requests == nil {
				continue
			}
			maps.Copy(requests, resources.Requests)
			resources.Requests = requests
		}
	}
	return Pod{
		Name: name, Replicas: replicas, Labels: meta.Labels, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		NodeSelector: spec.NodeSelector, TopologySpreadConstraints: spec.TopologySpreadConstraints,
		PriorityClassName: spec.PriorityClassName, SchedulerName: spec.SchedulerName, HostNetwork: spec.HostNetwork,
		Requests: resourcehelper.PodRequests(&corev1.Pod{Spec: spec}, resourcehelper.PodResourcesOptions{}),
	}
}

// Record writes a line with the operator and the version of its module, then one line for each of n
// resources that generate makes and the pods that build makes of it. Build reads the resource into
// made, a new *T, as the API server stores it.
func Record[T any](w io.Writer, module string, n int, generate func(*Random) Object,
	build func(*T) ([]Pod, error)) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(map[string]string{"operator": module, "version": version(module)}); err != nil {
		return err
	}
	r := &Random{rand.New(rand.NewPCG(1, 2))}
	for i := range n {
		object := generate(r)
		data, err := json.Marshal(object)
		if err != nil {
			return err
		}
		made := new(T)
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields() // a misspelt field would test nothing
		if err := decoder.Decode(made); err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
		pods, err := build(made)
		if err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
		if err := out.Encode(map[string]any{"resource": json.RawMessage(data), "pods": pods}); err != nil {
			return err
		}
	}
	return nil
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}

// Random makes parts of resources at random.
type Random struct{ *rand.Rand }

// Pick returns one of the values.
func Pick[T any](r *Random, values ...T) T { return values[r.IntN(len(values))] }

// Maybe says yes in one of n cases.
func (r *Random) Maybe(n int) bool { return r.IntN(n) == 0 }

const (
	hostname = corev1.LabelHostname
	zone     = corev1.LabelTopologyZone
)

// Set fills in parts of the object, each of them in half of the cases.
func (r *Random) Set(o Object, parts map[string]func() any) Object {
	for _, k := range slices.Sorted(maps.Keys(parts)) { // the order of a map is random
		if r.Maybe(2) {
			o[k] = parts[k]()
		}
	}
	return o
}

// Labels returns one or two labels of a user.
func (r *Random) Labels() map[string]string {
	labels := map[string]string{"tier": Pick(r, "data", "web")}
	if r.Maybe(2) {
		labels["team"] = "shop"
	}
	return labels
}

// NodeSelector returns a selector of one label.
func (r *Random) NodeSelector() map[string]string {
	return map[string]string{"pool": Pick(r, "a", "b")}
}

// Resources returns requests, larger limits or both.
func (r *Random) Resources() corev1.ResourceRequirements {
	var resources corev1.ResourceRequirements
	if !r.Maybe(4) {
		resources.Requests = corev1.ResourceList{
			corev1.ResourceMemory: resource.MustParse(Pick(r, "256Mi", "1Gi", "3Gi")),
		}
		if r.Maybe(2) {
			resources.Requests[corev1.ResourceCPU] = resource.MustParse(Pick(r, "100m", "1", "1500m"))
		}
	}
	if resources.Requests == nil || r.Maybe(2) {
		resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")}
		if r.Maybe(2) {
			resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
		}
	}
	return resources
}

// Tolerations returns up to two tolerations.
func (r *Random) Tolerations() []corev1.Toleration {
	all := []corev1.Toleration{
		{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule},
		{Key: "spot", Operator: corev1.TolerationOpExists},
		{Operator: corev1.TolerationOpExists},
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(3)]
}

func (r *Random) selector(own map[string]string) *metav1.LabelSelector {
	switch r.IntN(4) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: r.Labels()}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"data", "cache"}},
		}}
	}
	return &metav1.LabelSelector{MatchLabels: own}
}

func (r *Random) podTerm(own map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: r.selector(own), TopologyKey: Pick(r, hostname, hostname, zone)}
}

func (r *Random) nodeTerm() corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{Pick(r,
		corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
		corev1.NodeSelectorRequirement{Key: zone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"a"}},
		corev1.NodeSelectorRequirement{Key: zone, Operator: corev1.NodeSelectorOpExists},
	)}}
}

// NodeAffinity returns required or preferred terms or both.
func (r *Random) NodeAffinity() *corev1.NodeAffinity {
	affinity := &corev1.NodeAffinity{}
	if !r.Maybe(3) {
		terms := []corev1.NodeSelectorTerm{r.nodeTerm(), r.nodeTerm()}[:1+r.IntN(2)]
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	}
	if r.Maybe(3) {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
			{Weight: 10, Preference: r.nodeTerm()},
		}
	}
	return affinity
}

// PodAffinity returns a required or a preferred term.
func (r *Random) PodAffinity(own map[string]string) *corev1.PodAffinity {
	if r.Maybe(2) {
		return &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{r.podTerm(own)},
		}
	}
	return &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
		{Weight: 10, PodAffinityTerm: r.podTerm(own)},
	}}
}

// PodAntiAffinity returns a required or a preferred term or both.
func (r *Random) PodAntiAffinity(own map[string]string) *corev1.PodAntiAffinity {
	affinity := &corev1.PodAntiAffinity{}
	if !r.Maybe(3) {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{r.podTerm(own)}
	}
	if r.Maybe(3) {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{
			{Weight: 10, PodAffinityTerm: r.podTerm(own)},
		}
	}
	return affinity
}

// Affinity returns an affinity that may be empty, with terms that may select pods by their own labels.
func (r *Random) Affinity(own map[string]string) *corev1.Affinity {
	affinity := &corev1.Affinity{}
	if r.Maybe(2) {
		affinity.NodeAffinity = r.NodeAffinity()
	}
	if r.Maybe(4) {
		affinity.PodAffinity = r.PodAffinity(own)
	}
	if r.Maybe(2) {
		affinity.PodAntiAffinity = r.PodAntiAffinity(own)
	}
	return affinity
}

// Spread returns one or two constraints, some of them without a selector.
func (r *Random) Spread(own map[string]string) []corev1.TopologySpreadConstraint {
	var constraints []corev1.TopologySpreadConstraint
	for _, key := range []string{zone, hostname}[r.IntN(2):] {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1 + r.Int32N(2), TopologyKey: key,
			WhenUnsatisfiable: Pick(r, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		}
		if !r.Maybe(4) {
			c.LabelSelector = r.selector(own)
		}
		constraints = append(constraints, c)
	}
	return constraints
}

// PodSpec returns parts of a pod's spec.
func (r *Random) PodSpec(own map[string]string) Object {
	return r.Set(Object{}, map[string]func() any{
		"affinity": func() any { return r.Affinity(own) }, "tolerations": func() any { return r.Tolerations() },
		"nodeSelector":              func() any { return r.NodeSelector() },
		"topologySpreadConstraints": func() any { return r.Spread(own) },
		"priorityClassName":         func() any { return "high" },
		"schedulerName":             func() any { return "default-scheduler" },
	})
}
