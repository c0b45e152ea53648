// Package search decides what the scheduler can do with all workloads together, for every order in
// which it may process the pods and every choice among feasible nodes.
//
// Contract: Decide returns a verdict for each workload: always, never, sometimes or unknown.
// Explain returns the core of a never verdict and possible repairs. Orders returns runs that get stuck
// although others place all pods. History and Roll start from placements. History examines what
// happens after nodes are lost, and Roll examines a rollout.
//
// How Decide works: model.Split turns pods that selectors can tell apart into separate workloads,
// and indistinguishable workloads are merged into one (kinds.go). The instance replaces names with
// numbers (instance.go). Pod groups that interact form a component. Each component is settled with
// the cheapest method that succeeds:
//   - closed forms (closed_forms.go);
//   - proofs without search (estimate.go). Flows and weights prove that not all pods fit. Counts
//     and matchings prove that all pods always fit, or lead to a run that gets stuck. Colorings can
//     do either;
//   - a search over states, which treats states as equal if they differ only in the names of
//     equivalent nodes (search.go).
//
// If all of these fail, Decide reports bounds. Each workload then has its own answer, whatever
// becomes of the others (T21). A workload is always placed if other pods cannot close all of its
// nodes. A count can prove this (headroom.go, T6), or prices can (prices.go, T24). A linear program
// finds the prices (packing.go). Later questions about some
// of the nodes, or about more pods, get prices of their own (seeker.go, T27). A run can show that
// some of a workload's pods may be left out (blocking.go). A pod uses no resources if it requires a
// nearby pod that is never placed (T20).
//
// Every verdict carries a certificate, which the certificate checker confirms (search.go). If the
// check fails, the verdict becomes unknown and the failure is reported as an internal error
// (Run.Refused). If the check takes too long, the verdict also becomes unknown. The largest and
// smallest pod counts are certified only if a run demonstrates them. The checker counts again that a
// pod always finds a node (loss_fits.go, T16). The closed forms for the loss of a workload's nodes
// (Room.Single, Room.NeverFits) are not certified, but tests compare them with an enumeration.
//
// If volumes are made before their pods are scheduled, Decide decides a model for each combination of
// places in which provisioners may make them (choices.go). In each, the claims count as bound, so
// every decision is confirmed like any other. What holds for all of them is the verdict. Workloads
// that do not interact are decided apart, so that few combinations are enough.
//
// For pools that may grow, a verdict holds for every size from count to max. Two lemmas (T17, T18)
// reduce the sizes to a few representative ones. If too many remain, the verdict is unknown. A
// sometimes verdict applies to the declared nodes.
//
// Package search does not import package check.
package search
