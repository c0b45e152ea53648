package workload

import (
	"cmp"
	"slices"
	"strconv"
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
	// apiVersion is that of the target. paused is set if the number is fixed to Min.
	apiVersion string
	paused     bool
}

// scaler describes one kind of autoscaler: the fields that set its limits, and their defaults.
type scaler struct {
	group string
	// ref is the field that names the workload. min and max are the fields with the limits.
	ref, min, max string
	// low and high are the default limits. high is 0 if the maximum has no default.
	low, high int
	// apiVersion and kind are the defaults for scaleTargetRef.
	apiVersion, kind string
}

// scalers maps the kinds of autoscalers to scalers. KEDA creates a HorizontalPodAutoscaler from
// each ScaledObject (keda: apis/keda/v1alpha1/scaledobject_types.go).
var scalers = map[string]scaler{
	"HorizontalPodAutoscaler": {group: "autoscaling", ref: "scaleTargetRef", min: "minReplicas", max: "maxReplicas", low: 1},
	"ScaledObject":            {group: "keda.sh", ref: "scaleTargetRef", min: "minReplicaCount", max: "maxReplicaCount", high: 100, apiVersion: "apps/v1", kind: "Deployment"},
}

// scales reports whether an object is an autoscaler.
func scales(o *source.Object) bool {
	s, ok := scalers[o.Kind]
	return ok && s.group == o.Group() || sizes(o)
}

// sizes reports whether an object is an autoscaler that sets the requests of pods: one of a custom
// resource, which also sets their number (cloud-on-k8s: pkg/controller/autoscaling/elasticsearch), or a
// VerticalPodAutoscaler that is not off (autoscaler: vertical-pod-autoscaler/docs/api.md).
func sizes(o *source.Object) bool {
	switch o.Group() {
	case "autoscaling.k8s.elastic.co":
		return o.Kind == "ElasticsearchAutoscaler"
	case "autoscaling.k8s.io":
		return o.Kind == "VerticalPodAutoscaler" && o.Root.At("spec", "updatePolicy", "updateMode").Text() != "Off"
	}
	return false
}

// target identifies a workload that an autoscaler names. The API group is not included.
type target struct{ namespace, kind, name string }

// scale sets Scale on each workload that has an active autoscaler, and moves its pod count into the
// autoscaler's range (pkg/controller/podautoscaler/horizontal.go). Two autoscalers of one workload are
// both inactive (AmbiguousSelector), so its declared pods stay. If an autoscaler is declared several
// times, the last declaration counts. Rejected autoscalers are ignored.
func (l *loader) scale() {
	all := map[target][]*Scale{}
	var open []target                        // targets of autoscalers whose limits have a placeholder
	targets := map[target][]*source.Object{} // the autoscalers of each target
	sized := map[target]*source.Object{}     // targets whose requests an autoscaler sets
	for _, o := range l.scales {
		at, s := targetOf(o), scalers[o.Kind]
		if sizes(o) {
			sized[at] = o
			continue
		}
		targets[at] = append(targets[at], o)
		if spec := o.Root.Get("spec"); spec.Get(s.min).Placeholder() || spec.Get(s.max).Placeholder() {
			open = append(open, at)
		}
		scale := limits(o)
		if scale == nil {
			continue
		}
		again := func(p *Scale) bool { return p.Kind == scale.Kind && p.Object.Name == scale.Object.Name }
		if i := slices.IndexFunc(all[at], again); i >= 0 {
			all[at][i] = scale
		} else {
			all[at] = append(all[at], scale)
		}
	}
	for _, w := range l.set.Workloads {
		at := target{Space(w.Object.Namespace), w.Object.Kind, w.Object.Name}
		kind, _, part := strings.Cut(at.kind, "/")
		if w.Operator != "" { // an autoscaler names the resource
			at.kind = kind
		}
		acting := func(o *source.Object) bool { return o != nil && l.acts(o, w.Object) }
		sets, maybe := acting(sized[at]), false
		if sets {
			w.Open = append(slices.Clip(w.Open), "resources")
		}
		for t, by := range targets {
			reaches := func(o *source.Object) bool { return acting(o) && (at.open() || o.Reaches(w.Object)) }
			maybe = maybe || at.mayBe(t) && slices.ContainsFunc(by, reaches)
		}
		named := maybe || slices.ContainsFunc(targets[at], acting)
		if w.Operator != "" && (part && named || sets) {
			w.Count.N, w.Count.Known = 0, false
		} else if named && !w.Kind.PerNode() && !w.Bare() && !w.Finite() { // the others have no subresource scale
			if slices.Contains(open, at) || maybe {
				w.Count.N, w.Count.Known = 0, false
			}
			w.scaleBy(slices.DeleteFunc(slices.Clone(all[at]), func(s *Scale) bool { return !acting(s.Object) }))
		}
	}
}

// targetOf returns the workload that an autoscaler scales.
func targetOf(o *source.Object) target {
	if o.Kind == "ElasticsearchAutoscaler" {
		return target{Space(o.Namespace), "Elasticsearch", o.Root.At("spec", "elasticsearchRef", "name").Text()}
	}
	s := scalers[o.Kind]
	ref := o.Root.At("spec", cmp.Or(s.ref, "targetRef"))
	return target{Space(o.Namespace), cmp.Or(ref.Get("kind").Text(), s.kind), ref.Get("name").Text()}
}

// scaleBy gives the workload the one active autoscaler among those with its name. A
// HorizontalPodAutoscaler is inactive while its workload has 0 replicas. KEDA starts the first pods
// itself.
func (w *Workload) scaleBy(all []*Scale) {
	var active []*Scale
	for _, s := range all {
		made := func(o *Scale) bool { return o.Kind == "ScaledObject" && o.makes(s) }
		if groupOf(s.apiVersion) == w.Object.Group() && !slices.ContainsFunc(all, made) {
			active = append(active, s)
		}
	}
	off := w.Count.Known && w.Count.N == 0
	switch {
	case len(active) > 1:
		w.Rivals = active
	case len(active) == 0 || off && active[0].Kind == "HorizontalPodAutoscaler":
	case active[0].paused:
		w.Count.N, w.Count.Known = active[0].Min, true
	default:
		w.Scale = active[0]
		w.Count.N = min(max(w.Count.N, w.Scale.Min), w.Scale.Max) // not used if it is not known
	}
}

// makes reports whether KEDA makes the HorizontalPodAutoscaler o from the ScaledObject s
// (keda: pkg/controllers/keda/hpa.go, getHPAName).
func (s *Scale) makes(o *Scale) bool {
	name := s.Object.Root.At("spec", "advanced", "horizontalPodAutoscalerConfig", "name").Text()
	return o.Kind != s.Kind && o.Object.Name == cmp.Or(name, "keda-hpa-"+s.Object.Name)
}

// mayBe reports whether two different targets may still be the same workload because at least one
// of them contains a placeholder.
func (t target) mayBe(o target) bool {
	same := func(a, b string) bool { return a == b || source.Placeholder(a) || source.Placeholder(b) }
	return t != o && same(t.namespace, o.namespace) && same(t.kind, o.kind) && same(t.name, o.name)
}

// open reports whether a part of a target is a placeholder.
func (t target) open() bool {
	return source.Placeholder(t.namespace) || source.Placeholder(t.kind) || source.Placeholder(t.name)
}

// limits reads an autoscaler's limits. It returns nil if the API server rejects the limits, or if
// one of them is unknown.
func limits(o *source.Object) *Scale {
	s, spec := scalers[o.Kind], o.Root.Get("spec")
	low, high := field(spec, s.min, s.low), field(spec, s.max, s.high)
	if !low.Known || !high.Known || high.N < max(1, low.N) || low.N < s.low {
		return nil
	}
	at := func(c Count) diag.Span {
		if c.Key == nil {
			return o.NameSpan()
		}
		return o.File.FieldSpan(c.Key, c.Value)
	}
	ref := spec.Get(s.ref)
	scale := &Scale{Min: low.N, Max: high.N, Object: o, Kind: o.Kind, apiVersion: cmp.Or(ref.Get("apiVersion").Text(), s.apiVersion), MinSpan: at(low), MaxSpan: at(high), MaxDefault: high.Key == nil}
	if idle := field(spec, "idleReplicaCount", low.N); s.group == "keda.sh" && idle.Key != nil {
		scale.MinSpan, scale.Min = at(idle), 0
		if idle.Known {
			scale.Min = min(idle.N, low.N)
		}
	}
	for k, v := range o.Root.At("metadata", "annotations").Fields() { // keda.sh/docs: Pausing autoscaling
		if n, err := strconv.Atoi(v.Text()); k.Value == "autoscaling.keda.sh/paused-replicas" && err == nil && n >= 0 {
			scale.Min, scale.paused = n, true
			break
		}
		if strings.HasPrefix(k.Value, "autoscaling.keda.sh/paused") { // the current number is unknown
			scale.Min = 0
		}
	}
	return scale
}

// groupOf returns the API group of an apiVersion, or "" for the core group.
func groupOf(apiVersion string) string {
	return apiVersion[:max(0, strings.IndexByte(apiVersion, '/'))]
}
