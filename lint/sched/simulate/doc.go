// Package simulate follows runs of the scheduler as its default profile makes them. A verdict says
// that some order of the pods and some choice of nodes leaves pods out. This package says how often
// that happens when the scheduler scores the nodes.
//
// Contract: Runs makes a number of runs for all workloads that are to be placed, and counts how
// many are complete, which workloads are left out and which have all pods on one node. Changes
// follows losses, drains and rollouts from runs that place all pods, and counts how they end. State
// is for single questions: it starts with the running pods, and places pods one by one where the
// scheduler would. Filters are those of package search, so runs and verdicts agree.
// Shares are estimates and prove nothing.
//
// What is simulated is kube-scheduler 1.36 with the default profile (R-B1 to R-B9): the scores of
// taints, node affinity, topology spread with its default constraints, inter-pod affinity, least
// allocation and balance, and the sample of nodes from 100 nodes on. Ties are drawn. Pods with a
// higher priority come first. Pods of equal priority come workload by workload in one half of the
// runs and in any order in the other half. DaemonSet pods come before all others, as when their
// node joins. The pods of a StatefulSet come one after another.
//
// What is left out: images and volumes, which the scheduler also scores or filters; extenders and
// other profiles; pods that run to completion; soft rules of pods that take no part in decisions;
// and preemption. A run in which a pending pod could preempt others only counts as such. Services
// that are not in the input do not exist. Pools keep the declared number of nodes, and
// Component.Grows says where they need not.
//
// A component has no results, but a reason, if a rule or score of its pods depends on something
// unknown: pods that take no part in decisions, a label that only the cluster knows, the CPU or
// memory of a node, or the value of a PriorityClass. If only some of its workloads are the reason,
// runs without them still say which of the others have all pods on one node. There are no results
// either if the steps suffice for fewer than MinRuns runs. Changes says nothing where terminating
// pods, migrations or changed domains of a spread constraint would decide.
//
// Invariants: the same input gives the same result on every machine. Random numbers are drawn from
// the names of a component's workloads and nodes, so other workloads change nothing, nor does the
// order of the input. Floating-point products are converted before they are added, so that no
// machine fuses the two operations, and logarithms are computed here. From 100 nodes on, results
// depend on all nodes of the cluster, because the scheduler looks at them in turn.
package simulate
