package workload

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// dropFields records the fields of an object and of its pod spec that the API server drops, because
// its release does not have them or has them behind a feature gate that is off (R-V43). It removes
// them from SpecNode, so that the pods are those that the cluster gets. Other fields of the object
// stay: their readers ask the version.
func (w *Workload) dropFields(spec *place) {
	for _, f := range w.Kubernetes.Drops(w.Kind.Kind) {
		for _, path := range f.Paths {
			switch steps := strings.Split(path, "."); {
			case f.Kind != "":
				w.drop(f, &place{value: w.Object.Root}, steps)
			case !w.Fragment || steps[0] == "affinity": // the other names may mean something else there
				spec.value = w.drop(f, spec, steps)
			}
		}
	}
	if w.SpecNode == spec.value {
		return
	}
	if w.SpecNode = spec.value; w.TemplateNode != nil {
		w.TemplateNode = w.TemplateNode.Replace("spec", spec.value)
	}
}

// drop returns a copy of a node without a field, and records each value that it removes.
func (w *Workload) drop(f *versions.Field, p *place, steps []string) *source.Node {
	out := p.value
	for i, item := range p.value.Items() {
		if next := w.drop(f, p.item(i, item), steps); next != item {
			out = out.Among(i, next)
		}
	}
	for k, v := range p.value.Fields() {
		switch {
		case steps[0] != "*" && steps[0] != k.Value:
		case len(steps) > 1:
			if next := w.drop(f, p.entry(k, v), steps[1:]); next != v {
				out = out.Replace(k.Value, next)
			}
		default:
			out = out.Without(k.Value)
			if v.Kind == source.Scalar && !v.IsNull() || v.Len() > 0 {
				w.Gated = append(w.Gated, w.dropped(f, p.entry(k, v)))
			}
		}
	}
	return out
}

// dropped describes a field that the API server drops.
func (w *Workload) dropped(f *versions.Field, p *place) Problem {
	out := Problem{
		Stage: StageVersion, Field: p.path(), Span: w.File().FieldSpan(p.key, p.value), Gate: f.Gate,
		Message: fmt.Sprintf("Kubernetes %s drops it: %s", w.Kubernetes, f.So),
		Fix:     fmt.Sprintf("upgrade to Kubernetes 1.%d, or remove the field", f.On.Minor),
	}
	if f.Off.Minor > 0 { // only some patch releases keep it
		out.Fix = fmt.Sprintf("enable the feature gate %s, or remove the field", f.Gate)
	}
	if w.Kubernetes.Before(f.Since) {
		out.Gate = ""
	}
	return out
}
