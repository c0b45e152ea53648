package diag

// Picture shows where the pods of a decision are, event by event. Events and the pods that they leave
// Pending refer to Nodes and Workloads by index. A Picture is built only if an output needs it.
type Picture struct {
	Nodes     []PictureNode
	Workloads []PictureWorkload
	// Resources names the resources that the lists Allocatable and Requests hold, in this order.
	// CPU is in millicores, memory and storage are in bytes, and other resources are in units.
	Resources []string
	// Running lists the pods that are in place before every run.
	Running []PicturePod
	Runs    []PictureRun
	// LeftOut says which runs are missing and why, one sentence each.
	LeftOut []string
}

// PictureNode is a declared node.
type PictureNode struct {
	Name, Zone, Pool string
	// Allocatable is parallel to Picture.Resources. It is -1 for a resource that the node does not list.
	Allocatable []int64
	Cordoned    bool
	// ZoneOpen is set if the node may be in a zone that its declaration does not name.
	ZoneOpen bool
	// Taints lists taints in the form key=value:effect.
	Taints []string
}

// PictureWorkload is a workload that has pods in some run. Reference is its name in the form of
// PlacementStep.Workload.
type PictureWorkload struct {
	Reference string
	// Requests holds the requests of one pod, parallel to Picture.Resources.
	Requests []int64
	// New is set for the pods of the next revision in a rollout.
	New bool
}

// PicturePod is a pod of a workload on a node.
type PicturePod struct{ Workload, Node int }

// The questions that a run is about.
const (
	AskPlaced  = "placed"
	AskStuck   = "stuck"
	AskRollout = "rollout"
	AskDrain   = "drain"
	AskLoss    = "loss"
)

// PictureRun is one run. It begins with the pods in Picture.Running. If After is not -1, all events of
// that run come first.
type PictureRun struct {
	Question string
	// Workload is the workload that the question is about, or -1 for all of them.
	Workload int
	Title    string
	// Note is the reason for the answer in words, or "".
	Note    string
	After   int
	Events  []PictureEvent
	Pending []PicturePending
	// Lost lists the nodes that are lost or drained, and Meaning is "gone", "unreachable" or
	// "drained".
	Lost    []int
	Meaning string
}

// What an event does.
const (
	EventPlace  = "place"
	EventRemove = "remove"
	// EventLose loses the nodes in PictureRun.Lost. It has no pod.
	EventLose = "lose"
)

// PictureEvent is one step of a run.
type PictureEvent struct {
	What string
	PicturePod
}

// PicturePending describes the pods of a workload that are Pending at the end of a run. Reason is as
// in PlacementPending.
type PicturePending struct {
	Workload, Count int
	Reason          string
	Orphaned        bool
	Refused         []PictureRefused
}

// PictureRefused lists the nodes that reject a pod by the same filter first. Why describes the
// rejection by the first of these nodes.
type PictureRefused struct {
	Filter, Why string
	Nodes       []int
}
