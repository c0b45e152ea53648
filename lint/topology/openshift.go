package topology

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// openshift is the group of the Machine API of OpenShift.
const openshift = "machine.openshift.io"

// openshiftCloud is the providerSpec of a Machine (openshift/machine-api-operator 95119612
// pkg/controller/nodelink/nodelink_controller.go; R-S16).
type openshiftCloud struct {
	Value struct {
		Placement struct {
			Zone   string `json:"availabilityZone"`
			Region string `json:"region"`
		} `json:"placement"`
		UserData struct {
			Name string `json:"name"`
		} `json:"userDataSecret"`
	} `json:"value"`
}

type openshiftAutoscaler struct {
	Spec struct {
		Min    *int `json:"minReplicas"`
		Max    *int `json:"maxReplicas"`
		Target struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
	} `json:"spec"`
}

// openshift reads a MachineSet, and its MachineAutoscaler if there is one.
func (l *loader) openshift(o *source.Object) {
	var in machineSet
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	before, p, spec := len(l.errs), newMachinePool(o.Name), &in.Spec.Template.Spec
	p.UnknownLabels = append(slices.Clip(p.UnknownLabels), "node.openshift.io/os_id")
	for k, v := range spec.Metadata.Labels.Fields() {
		l.label(o, o.File.FieldSpan(k, v), o.Name, k.Value, labelValue(v))
		p.Labels[k.Value] = labelValue(v)
	}
	cloud, at := &spec.Provider.Value, o.Root.At("spec", "template", "spec", "providerSpec", "value", "placement")
	for field, of := range map[string][2]string{
		"availabilityZone": {corev1.LabelTopologyZone, cloud.Placement.Zone},
		"region":           {corev1.LabelTopologyRegion, cloud.Placement.Region},
	} {
		if value := of[1]; value != "" {
			l.label(o, o.File.Span(at.Get(field)), o.Name, of[0], value)
			p.Labels[of[0]] = value
		}
	}
	if worker := "node-role.kubernetes.io/worker"; cloud.UserData.Name == "worker-user-data" {
		p.Labels[worker] = ""
	} else {
		p.UnknownLabels = append(p.UnknownLabels, worker)
	}
	if mentions(o.Root.Get("spec"), "windows") {
		p.UnknownLabels = append(p.UnknownLabels, corev1.LabelOSStable, betaOS, corev1.LabelWindowsBuild)
	}
	p.Taints = l.taintList(o, o.File.Span, spec.Taints)
	l.capacity(o, in.Metadata.Annotations, p)
	least, most := l.bounds(o, in.Metadata.Annotations, openshift)
	for _, of := range l.objects {
		var scaler openshiftAutoscaler
		if of.Kind == "MachineAutoscaler" && of.Namespace == o.Namespace && of.Root.At("spec", "scaleTargetRef", "name").Text() == o.Name && l.decides(of, of.File.Span, of.Root, &scaler) {
			least, most = scaler.Spec.Min, scaler.Spec.Max
		}
	}
	l.machinePool(o, o.Root, o.NameSpan(), in.Spec.Replicas, least, most, p, before)
}
