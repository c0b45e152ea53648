package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Repair describes the change that allows the pods to be placed.
func Repair(r *search.Repair) string {
	switch {
	case r.Replicas > 0:
		return Replicas(r.Workload, r.Replicas)
	case r.Nodes > 0:
		return MoreNodes(r.Nodes, r.Like.Name)
	case r.Key != "":
		t := r.Atoms[0].Term
		return fmt.Sprintf("set topologyKey: %s for the %s of %s on %s", r.Key, t.Use, r.Workload, t.Key)
	}
	var steps []string
	for i, a := range r.Atoms {
		steps = append(steps, giveUp(a, r.Opens[i]))
	}
	return strings.Join(steps, ", and ")
}

// Replicas asks for a number of replicas.
func Replicas(w *workload.Workload, n int) string {
	return fmt.Sprintf("set replicas of %s to %d", w, n)
}

// MoreNodes asks for nodes that are equivalent to a given one.
func MoreNodes(n int, like string) string {
	return fmt.Sprintf("add %s like %s", plural(n, "more node"), like)
}

// giveUp describes how to give up a member of a core.
func giveUp(a search.Atom, opens *model.Exclusion) string {
	switch {
	case a.Term != nil && a.Term.Use == model.Spread:
		return fmt.Sprintf("set whenUnsatisfiable: ScheduleAnyway for the spread of %s on %s", a.Workload, a.Term.Key)
	case a.Term != nil:
		return fmt.Sprintf("make the %s of %s on %s preferred", a.Term.Use, a.Workload, a.Term.Key)
	}
	if words := openings[a.Part]; words != nil && opens != nil {
		return words(a.Workload, opens)
	}
	if words := givenUp[a.Part]; words != "" {
		return fmt.Sprintf(words, a.Workload)
	}
	return string(a.Part)
}

// givenUp has a format of the workload for each part.
var givenUp = map[search.Part]string{
	search.PartSelector: "label nodes to match the node selector or node affinity of %s, or relax it",
	search.PartTaints:   "tolerate the taints that exclude %s, or remove them",
	search.PartRequests: "lower the requests of %s",
	search.PartSlots:    "raise the pod limit of the nodes that %s can use",
	search.PartPorts:    "remove the host ports of %s",
	search.PartReplicas: "run %s elsewhere",
}

// openings describe how to give up a part, with the nodes that become eligible.
var openings = map[search.Part]func(*workload.Workload, *model.Exclusion) string{
	search.PartSelector: func(w *workload.Workload, x *model.Exclusion) string {
		return fmt.Sprintf("label %s with %s, or relax the node selector of %s", few(x), Label(x), w)
	},
	search.PartTaints: func(w *workload.Workload, x *model.Exclusion) string {
		return fmt.Sprintf("tolerate the taint %s:%s of %s in %s, or remove it", x.Taint.Key, x.Taint.Effect, few(x), w)
	},
}

// few names some of the nodes of an exclusion.
func few(x *model.Exclusion) string {
	var names []string
	for _, n := range x.Nodes[:min(maxNodes, len(x.Nodes))] {
		names = append(names, n.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(x.Nodes) - maxNodes; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Term names a required term by its use and its key.
func Term(t *model.Term) string {
	return strings.TrimSpace(fmt.Sprintf("required %s on %s", t.Use, t.Key))
}
