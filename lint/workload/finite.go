package workload

import "github.com/schedlint/schedlint/lint/source"

// queueName is the label by which Kueue takes charge of an object (kubernetes-sigs/kueue:
// pkg/controller/constants/constants.go, QueueLabel).
const queueName = "kueue.x-k8s.io/queue-name"

// Finite reports whether the pods of a workload end by themselves and release their resources
// (R-A1, R-W15): pods of Jobs and CronJobs, and bare pods that are not restarted or are hooks that
// a tool waits for. A pod that does not fit now waits and may run later.
func (w *Workload) Finite() bool {
	if w.Kind.Kind != "Pod" {
		return w.Kind.Batch()
	}
	if w.Object.Hook != "" {
		return true
	}
	switch w.RestartPolicy().Text() {
	case "Never", "OnFailure":
		return true
	}
	return false
}

// RestartPolicy returns the field of the pod's spec, or nil.
func (w *Workload) RestartPolicy() *source.Node { return w.SpecNode.Get("restartPolicy") }

// Queued reports whether Kueue holds the pods back until their queue has room: the label is on the
// object or on the pods themselves.
func (w *Workload) Queued() bool {
	for _, labels := range []*source.Node{w.Object.Root.At("metadata", "labels"), w.TemplateNode.At("metadata", "labels")} {
		if !labels.Get(queueName).IsNull() {
			return true
		}
	}
	return false
}
