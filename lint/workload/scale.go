package workload

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Scale is the range in which an autoscaler keeps a workload (R-W18).
type Scale struct {
	// Min and Max are numbers of pods. Min is 0 for a ScaledObject that may scale to zero, which is
	// its default.
	Min, Max int
	// Object is the autoscaler, and Kind its kind: HorizontalPodAutoscaler or ScaledObject.
	Object *source.Object
	Kind   string
	// MinSpan and MaxSpan are the locations of the fields, or of the name of the object if a
	// default applies; MaxDefault is set if one applies to Max.
	MinSpan, MaxSpan diag.Span
	MaxDefault       bool
}

// scaler has the names of the limits of one kind of autoscaler, and the defaults of its target.
type scaler struct {
	group    string
	min, max string
	// low and high are the defaults of the limits; 0 for high means that there is none.
	low, high int
	// apiVersion and kind apply to a target that does not set them.
	apiVersion, kind string
}

// scalers has the kinds of autoscalers. KEDA creates a HorizontalPodAutoscaler from a ScaledObject
// (keda: apis/keda/v1alpha1/scaledobject_types.go).
var scalers = map[string]scaler{
	"HorizontalPodAutoscaler": {group: "autoscaling", min: "minReplicas", max: "maxReplicas", low: 1},
	"ScaledObject":            {group: "keda.sh", min: "minReplicaCount", max: "maxReplicaCount", high: 100, apiVersion: "apps/v1", kind: "Deployment"},
}

// scales reports whether an object is an autoscaler.
func scales(o *source.Object) bool {
	s, ok := scalers[o.Kind]
	return ok && s.group == o.Group()
}

// target identifies the workload that an autoscaler scales, except its group.
type target struct{ namespace, kind, name string }

// scale joins autoscalers to the workloads that they scale. Of several for one target the first
// counts, because KEDA's own is generated and has the same limits; of repeated declarations of one
// autoscaler the last counts. A refused autoscaler scales nothing.
func (l *loader) scale() {
	type scaling struct {
		*Scale
		apiVersion string
	}
	all, index := map[target][]scaling{}, map[[5]string]int{}
	var targets, open []target // of all autoscalers, and of those with an open range
	for _, o := range l.scales {
		s, spec := scalers[o.Kind], o.Root.Get("spec")
		ref := spec.Get("scaleTargetRef")
		at := target{Space(o.Namespace), cmp.Or(ref.Get("kind").Text(), s.kind), ref.Get("name").Text()}
		targets = append(targets, at)
		if spec.Get(s.min).Placeholder() || spec.Get(s.max).Placeholder() {
			open = append(open, at)
		}
		scale := limits(o)
		if scale == nil {
			continue
		}
		one := scaling{scale, cmp.Or(ref.Get("apiVersion").Text(), s.apiVersion)}
		id := [...]string{at.namespace, at.kind, at.name, o.Kind, o.Name}
		if i, known := index[id]; known {
			all[at][i] = one
		} else {
			index[id] = len(all[at])
			all[at] = append(all[at], one)
		}
	}
	for _, w := range l.set.Workloads {
		at := target{Space(w.Object.Namespace), w.Object.Kind, w.Object.Name}
		scaled := slices.Contains(open, at) || slices.ContainsFunc(targets, at.mayBe)
		if scaled && !w.Kind.PerNode() && !w.Bare() && !w.Finite() {
			w.Count.Known = false
		}
		for _, s := range all[at] {
			if s.apiVersion == "" || groupOf(s.apiVersion) == w.Object.Group() {
				if !s.inactiveFor(w) {
					w.Scale = s.Scale
				}
				break
			}
		}
	}
}

// mayBe reports whether two targets that are written differently may be the same, because a part of
// either is a placeholder.
func (t target) mayBe(o target) bool {
	same := func(a, b string) bool { return a == b || source.Placeholder(a) || source.Placeholder(b) }
	return t != o && same(t.namespace, o.namespace) && same(t.kind, o.kind) && same(t.name, o.name)
}

// inactiveFor reports whether an autoscaler is inactive for a workload: a HorizontalPodAutoscaler is at 0
// replicas, unless it may itself scale to zero (pkg/controller/podautoscaler/horizontal.go). KEDA
// starts the first pod by itself.
func (s *Scale) inactiveFor(w *Workload) bool {
	return s.Kind == "HorizontalPodAutoscaler" && s.Min > 0 && w.Count.Key != nil && w.Count.Known && w.Count.N == 0
}

// limits reads the range of an autoscaler; nil if it is refused or unknown.
func limits(o *source.Object) *Scale {
	s, spec := scalers[o.Kind], o.Root.Get("spec")
	low, high := field(spec, s.min, s.low), field(spec, s.max, s.high)
	if !low.Known || !high.Known || high.N < max(1, low.N) {
		return nil
	}
	at := func(c Count) diag.Span {
		if c.Key == nil {
			return o.NameSpan()
		}
		return o.File.FieldSpan(c.Key, c.Value)
	}
	scale := &Scale{Min: low.N, Max: high.N, Object: o, Kind: o.Kind, MinSpan: at(low), MaxSpan: at(high), MaxDefault: high.Key == nil}
	if idle := field(spec, "idleReplicaCount", low.N); s.group == "keda.sh" && idle.Key != nil {
		scale.MinSpan, scale.Min = at(idle), 0
		if idle.Known {
			scale.Min = min(idle.N, low.N)
		}
	}
	for k := range o.Root.At("metadata", "annotations").Fields() {
		if strings.HasPrefix(k.Value, "autoscaling.keda.sh/paused") { // currently at some other number (keda.sh/docs: Pausing autoscaling)
			scale.Min = 0
		}
	}
	return scale
}

// groupOf returns the group of an apiVersion; "" for the core group.
func groupOf(apiVersion string) string {
	return apiVersion[:max(0, strings.IndexByte(apiVersion, '/'))]
}
