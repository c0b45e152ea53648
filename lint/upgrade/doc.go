// Package upgrade decides whether a platform can replace all nodes of a pool, a few at a time, while
// every PodDisruptionBudget is obeyed.
//
// Contract: Of takes the nodes and the workloads of one context and a pool. The answer is always if
// every upgrade ends with all nodes replaced and all pods running, and never if no upgrade ends
// without breaking a budget. Otherwise it is unknown, with reasons.
//
// An upgrade: all pods run when it begins. The platform adds new nodes, drains old ones and removes
// those that are empty, in any order, within the limits of Settings. A drained node takes no pods, and
// its pods are evicted in any order while their budgets allow it. Evicted pods go to any node that
// passes the filters. The nodes of the pool differ in their names and zones only, and new nodes are like
// the old ones. The numbers of pods do not change.
//
// The proof of always (C13): a state that is stuck has a node that is drained and a pod there that its
// budget does not let go, because other pods of the budget are Pending. No node takes these. The pods
// on usable nodes are then the start of a run on these nodes. If rules are hereditary, a pod that no
// node takes stays Pending in every such run. So it is enough that on every set of usable nodes the
// pods of workloads with budgets are placed in every run, and at the end the pods of all workloads. The
// pods that are still on the drained nodes do not count as placed: with one budget that lets m pods go,
// m pods less have to be placed.
//
// Pods on drained nodes can keep others away from usable nodes if required anti-affinity is about
// domains of several nodes. All pods of a workload then have to be placed, its budget must select no
// other workload, and if several nodes are drained at once, no workload has more than one such rule
// and none of these rules selects another workload.
//
// With hard spread constraints, the outcome depends on where pods ran before. They are still no obstacle
// if counting shows that a pod finds a usable node wherever all other pods are (C15). This requires a
// usable node in each zone of the pool at all times. Pods that return to the zones of their volumes need
// such a node in each zone (T30), and the new nodes in the zones of the old ones. Pods without a budget
// stop no drain, so only the end of the upgrade counts for them.
//
// The order of the nodes changes no answer: with one node at a time, the sets of usable nodes are the same
// in any order. With several, an order does not determine which nodes are drained together. Suffices
// therefore proposes fewer nodes at a time and no order.
//
// Live migration: a virtual machine leaves a drained node only if its second pod finds a usable node,
// which is the case if all pods of the machine are placed in every run on the usable nodes, and if the
// machine can migrate at all.
//
// The proofs of never: a budget that never allows an eviction selects a pod that must be on the pool. Or
// the pods that budgets and live migration keep running at any time do not fit on the nodes that exist
// when the first old node is gone (C14).
//
// Costs: the number of sets of usable nodes is limited, and so are the steps of all decisions.
package upgrade
