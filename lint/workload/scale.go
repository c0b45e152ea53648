package workload

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Scale is the range in which an autoscaler keeps a workload's pod count (R-W18).
type Scale struct {
	// Min and Max are pod counts. Min is 0 for a ScaledObject that can scale to zero, which is the
	// default.
	Min, Max int
	// Object is the autoscaler. Kind is HorizontalPodAutoscaler or ScaledObject.
	Object *source.Object
	Kind   string
	// MinSpan and MaxSpan are the locations of the fields that set Min and Max. If a field is not
	// set, the location is that of the autoscaler's name. MaxDefault is set if Max is the default.
	MinSpan, MaxSpan diag.Span
	MaxDefault       bool
}

// scaler describes one kind of autoscaler: the fields that set its limits, and their defaults.
type scaler struct {
	group    string
	min, max string
	// low and high are the default limits. high is 0 if the maximum has no default.
	low, high int
	// apiVersion and kind are the defaults for scaleTargetRef.
	apiVersion, kind string
}

// scalers maps the kinds of autoscalers to scalers. KEDA creates a HorizontalPodAutoscaler from
// each ScaledObject (keda: apis/keda/v1alpha1/scaledobject_types.go).
var scalers = map[string]scaler{
	"HorizontalPodAutoscaler": {group: "autoscaling", min: "minReplicas", max: "maxReplicas", low: 1},
	"ScaledObject":            {group: "keda.sh", min: "minReplicaCount", max: "maxReplicaCount", high: 100, apiVersion: "apps/v1", kind: "Deployment"},
}

// scales reports whether an object is an autoscaler.
func scales(o *source.Object) bool {
	s, ok := scalers[o.Kind]
	return ok && s.group == o.Group() || sizes(o)
}

// sizes reports whether an object is an autoscaler that sets the number and the requests of the pods of
// a custom resource (cloud-on-k8s: pkg/controller/autoscaling/elasticsearch).
func sizes(o *source.Object) bool {
	return o.Kind == "ElasticsearchAutoscaler" && o.Group() == "autoscaling.k8s.elastic.co"
}

// target identifies the workload that an autoscaler scales. The API group is not included.
type target struct{ namespace, kind, name string }

// scale sets Scale on each workload that has an autoscaler. If several autoscalers have the same
// target, the first one wins. KEDA generates a HorizontalPodAutoscaler with the same limits as its
// ScaledObject. If an autoscaler is declared several times, the last declaration wins. Rejected
// autoscalers are ignored.
func (l *loader) scale() {
	type scaling struct {
		*Scale
		apiVersion string
	}
	all, index := map[target][]scaling{}, map[[5]string]int{}
	var targets, open []target // targets of all autoscalers, and of those whose limits have a placeholder
	sized := map[target]bool{} // targets whose requests an autoscaler sets, too
	for _, o := range l.scales {
		if sizes(o) {
			sized[target{Space(o.Namespace), "Elasticsearch", o.Root.At("spec", "elasticsearchRef", "name").Text()}] = true
			continue
		}
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
		if kind, _, part := strings.Cut(at.kind, "/"); w.Operator != "" { // an autoscaler names the resource
			if at.kind = kind; sized[at] {
				w.Count.N, w.Count.Known, w.Open = 0, false, append(slices.Clip(w.Open), "resources")
			}
			if part && (slices.Contains(targets, at) || slices.ContainsFunc(targets, at.mayBe)) {
				w.Count.N, w.Count.Known = 0, false
				continue
			}
		}
		scaled := slices.Contains(open, at) || slices.ContainsFunc(targets, at.mayBe)
		if scaled && !w.Kind.PerNode() && !w.Bare() && !w.Finite() {
			w.Count.N, w.Count.Known = 0, false
		}
		for _, s := range all[at] {
			if s.apiVersion == "" || groupOf(s.apiVersion) == w.Object.Group() {
				// A HorizontalPodAutoscaler is inactive while its workload has 0 replicas, unless
				// the autoscaler itself can scale to zero
				// (pkg/controller/podautoscaler/horizontal.go). KEDA itself starts the first pod.
				off := w.Count.Key != nil && w.Count.Known && w.Count.N == 0
				if !off || s.Kind != "HorizontalPodAutoscaler" || s.Min == 0 {
					w.Scale = s.Scale
				}
				break
			}
		}
	}
}

// mayBe reports whether two different targets may still be the same workload because at least one
// of them contains a placeholder.
func (t target) mayBe(o target) bool {
	same := func(a, b string) bool { return a == b || source.Placeholder(a) || source.Placeholder(b) }
	return t != o && same(t.namespace, o.namespace) && same(t.kind, o.kind) && same(t.name, o.name)
}

// limits reads an autoscaler's limits. It returns nil if the API server rejects the limits, or if
// one of them is unknown.
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
		if strings.HasPrefix(k.Value, "autoscaling.keda.sh/paused") { // the current number is unknown (keda.sh/docs: Pausing autoscaling)
			scale.Min = 0
		}
	}
	return scale
}

// groupOf returns the API group of an apiVersion, or "" for the core group.
func groupOf(apiVersion string) string {
	return apiVersion[:max(0, strings.IndexByte(apiVersion, '/'))]
}
