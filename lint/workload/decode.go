package workload

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// read decodes and validates an object with a template of its own.
func (l *loader) read(o *source.Object, kind *Kind) *Workload {
	if l.once {
		w := l.decode(o, kind)
		w.fold()
		return w
	}
	if l.known[o] == nil {
		l.known[o] = l.decode(o, kind)
	}
	w := *l.known[o] // each set adds data from other objects to its own copy
	w.Problems, w.Unknown = slices.Clip(w.Problems), slices.Clip(w.Unknown)
	return &w
}

// fold discards the tree that a workload was read from.
func (w *Workload) fold() {
	w.Object.Fold(&asked)
	w.TemplateNode = w.Object.Folded(w.TemplateNode)
	if k, v := w.Object.Root.Get("spec").Field("replicas"); k != nil && w.Count.Key != nil && *k == *w.Count.Key {
		w.Count.Key, w.Count.Value = k, v
	} else {
		w.Count.Key, w.Count.Value = w.Object.Folded(w.Count.Key), w.Object.Folded(w.Count.Value)
	}
	w.SpecNode = w.TemplateNode.Get("spec")
}

// asked lists the fields that every run reads from every workload after decoding.
var asked = source.Kept{Through: "spec", Names: []string{
	"metadata",                                                                                           // of the object and of its template
	"ordinals", "paused", "podManagementPolicy", "replicas", "strategy", "updateStrategy", "workloadRef", // of the object's spec
	"affinity", "nodeSelector", "restartPolicy", "tolerations", "topologySpreadConstraints", // of the pod's
}}

func (l *loader) decode(o *source.Object, kind *Kind) *Workload {
	w := &Workload{Object: o, Kind: kind, Count: kind.Count(o), TemplateNode: o.Root.At(kind.Template...)}
	w.SpecNode = w.TemplateNode.Get("spec")
	l.labels(w)
	l.spec(w)
	w.Running = kind.Kind == "Pod" && w.Spec.NodeName != "" && o.Root.At("status", "phase").Text() == "Running"
	validate(w)
	return w
}

// isManifest reports whether an object of a judged kind is a manifest and not a strategic-merge patch,
// which names an object and only the fields that it changes.
func isManifest(o *source.Object, kind *Kind) bool {
	template := o.Root.At(kind.Template...)
	spec := template.Get("spec")
	labelled := template.At("metadata", "labels").Len() > 0
	selects := !o.Root.At("spec", "selector").IsNull() // an empty one is refused (R-V37), but patches do not have one
	holds := spec.Get("containers").Len() > 0
	if kind.VM {
		domain, _ := spec.Field("domain")
		return spec.Len() > 0 && (domain != nil || labelled || selects || o.Root.At("spec", "instancetype") != nil)
	}
	if kind.Selects {
		imaged := slices.ContainsFunc(spec.Get("containers").Items(), func(c *source.Node) bool { return c.Get("image") != nil }) // few patches set one
		return spec != nil && (selects || labelled && imaged)
	}
	return holds
}

// labels collects the labels that the pods are known to have.
func (l *loader) labels(w *Workload) {
	node := w.TemplateNode.At("metadata", "labels")
	w.Labels = make(map[string]string, node.Len()+len(w.Kind.Fixed))
	path := w.Kind.path("metadata.labels")
	if node.Placeholder() {
		w.Open = append(w.Open, "metadata.labels")
		return
	}
	if !node.IsNull() && node.Kind != source.Map {
		k, v := w.TemplateNode.Get("metadata").Field("labels")
		w.refuse(path, w.File().FieldSpan(k, v), "expected a map", "")
	}
	for k, v := range node.Fields() {
		if k.Placeholder() {
			w.Open = append(w.Open, "metadata.labels")
		}
		if v.Kind != source.Scalar || v.Type != source.String && v.Type != source.Null {
			w.mistyped(path+"."+k.Value, k, v, "string")
			continue
		}
		w.Labels[k.Value] = v.Text()
	}
	for k, v := range w.Kind.Fixed {
		w.Labels[k] = v
	}
	if w.Object.Root.At("metadata", "generateName") == nil {
		for _, k := range w.Kind.NameLabels {
			w.Labels[k] = w.Object.Name
		}
	}
}

// path returns a field path below the template.
func (k *Kind) path(field string) string {
	return strings.Join(append(slices.Clone(k.Template), field), ".")
}

// spec decodes the spec of the pod and records mismatches as problems.
func (l *loader) spec(w *Workload) {
	var found []source.Mismatch
	if w.Kind.VM {
		var vmi vmiSpec
		found = l.decoder.Decode(w.SpecNode, &vmi)
		w.Spec = vmi.pod()
	} else {
		found = l.decoder.Decode(w.SpecNode, &w.Spec)
	}
	prefix := w.Kind.path("spec")
	for _, m := range found {
		field := prefix + "." + m.Path
		switch {
		case m.Unknown:
			w.unknown(field, m)
		case m.Placeholder:
			w.Open = append(w.Open, m.Path)
			w.numeral(m.Value)
		default:
			w.Open = append(w.Open, m.Path)
			w.mistyped(field, m.Key, m.Value, m.Want)
		}
	}
	l.lists.share(&w.Spec)
	w.variables()
	l.envelope(w)
}

// unknown records a field that does not exist. In the spec of a machine, whose type is not
// available, only the subtrees shared with pods are checked.
func (w *Workload) unknown(field string, m source.Mismatch) {
	w.Unknown = append(w.Unknown, UnknownField{Field: field, Suggestion: m.Suggestion, Span: w.File().FieldSpan(m.Key, m.Value), KeySpan: w.File().Span(m.Key)})
}

// refuse records a field that the API server does not accept.
func (w *Workload) refuse(field string, at diag.Span, message, fix string) {
	w.Problems = append(w.Problems, Problem{Stage: StageObject, Field: field, Span: at, Message: message, Fix: fix})
}

// mistyped records a value of the wrong type, which JSON decoding refuses.
func (w *Workload) mistyped(field string, key, value *source.Node, want string) {
	span := w.File().Span(value)
	if key != nil {
		span = w.File().FieldSpan(key, value)
	}
	if value.Kind != source.Scalar {
		w.refuse(field, span, "expected a "+want+", found a "+value.Kind.String(), "")
		return
	}
	message, fix := "expected a "+want+", found the "+value.Type.String()+" "+clipped(value.Value), ""
	if want == "string" && !value.Quoted && value.Type != source.Null && len(value.Value) <= maxShown {
		fix = `quote it: "` + value.Value + `"`
	}
	w.refuse(field, span, message, fix)
}
