package workload

import "github.com/schedlint/schedlint/lint/diag"

// EvictionStrategy returns the eviction strategy of a machine, for example LiveMigrate, and its
// location (R-W29). It is "" for an object that is not a machine, and if the cluster decides. A
// variable of a later tool is returned as written.
func (w *Workload) EvictionStrategy() (strategy string, at diag.Span) {
	k, v := w.SpecNode.Field("evictionStrategy")
	if !w.Kind.VM || v.Text() == "" {
		return "", diag.Span{}
	}
	return v.Text(), w.File().FieldSpan(k, v)
}

// OuterLabel is a label outside the template, with its location.
type OuterLabel struct {
	Value string
	Span  diag.Span
}

// outerLabels has the paths of labels of a machine that its pods do not get, by kind.
var outerLabels = map[string][]string{
	"VirtualMachine":                   {"metadata", "labels"},
	"VirtualMachineInstanceReplicaSet": {"metadata", "labels"},
	"VirtualMachinePool":               {"spec", "virtualMachineTemplate", "metadata", "labels"},
}

// OuterLabels returns the labels of a machine that never reach its pods, because they are outside
// the template of the instance (R-W21), without those that the pods have anyway; nil for all other
// kinds.
func (w *Workload) OuterLabels() map[string]OuterLabel {
	path, ok := outerLabels[w.Kind.Kind]
	if !ok {
		return nil
	}
	all := map[string]OuterLabel{}
	for k, v := range w.Object.Root.At(path...).Fields() {
		if inner, carried := w.Labels[k.Value]; !carried || inner != v.Text() {
			all[k.Value] = OuterLabel{Value: v.Text(), Span: w.Object.File.FieldSpan(k, v)}
		}
	}
	return all
}
