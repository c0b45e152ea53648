package workload

import "github.com/schedlint/schedlint/lint/diag"

// EvictionStrategy is what becomes of a machine whose pod is evicted, as in
// LiveMigrate, and the place that says so (R-W29). It is "" for what is no
// machine, and where the cluster decides. A variable of a later tool is given
// as it stands there.
func (w *Workload) EvictionStrategy() (strategy string, at diag.Span) {
	k, v := w.SpecNode.Field("evictionStrategy")
	if !w.Kind.VM || v.Text() == "" {
		return "", diag.Span{}
	}
	return v.Text(), w.File().FieldSpan(k, v)
}

// OuterLabel is a label beside the template, with its place.
type OuterLabel struct {
	Value string
	Span  diag.Span
}

// outerLabels is where labels of a machine stand that are not its pods'.
var outerLabels = map[string][]string{
	"VirtualMachine":                   {"metadata", "labels"},
	"VirtualMachineInstanceReplicaSet": {"metadata", "labels"},
	"VirtualMachinePool":               {"spec", "virtualMachineTemplate", "metadata", "labels"},
}

// OuterLabels are the labels of a machine that never reach its pods, as they
// stand outside of the template of the instance (R-W21); nil for everything
// else. Those that the pods carry all the same are left out.
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
