// Package search decides what the scheduler can do with all workloads together, over
// every order in which it may take the pods and every choice among feasible nodes.
//
// Contract: Decide returns a verdict for each workload: always, never, sometimes or
// unknown. Explain returns the core of a never and its repairs. Conflicts returns the
// findings about workloads together. Lose and Roll continue from placements of all pods:
// after a loss of nodes, and during a rollout.
//
// How Decide works: pods that selectors can tell apart become workloads of their own
// (model.Split), and indistinguishable workloads become one (merge.go). The instance
// replaces names by numbers (instance.go), and pod groups that interact form a component.
// Each component is settled by the cheapest method that succeeds: closed forms
// (closed_forms.go); proofs without search (estimate.go: flows and weights prove never,
// counts and matchings prove always or yield a run that gets stuck, colorings do either);
// a search over states up to the names of equivalent nodes (search.go); otherwise bounds.
// If a component stays undecided, or is never or sometimes as a unit, the workloads that
// others cannot keep out are still always placed (headroom.go, T21). Pods whose affinity
// waits for pods that never come take no room (T20).
//
// Every verdict carries a certificate, which the Checker of the model confirms
// (confirm.go). A certificate that fails makes its subject unknown and is reported as an
// internal failure (Run.Refused); one that takes too long to check makes the verdict
// unknown. The largest and smallest numbers of pods are certified only as far as the runs
// show them. The quick answers about losses (loss_fits.go) are not certified; tests
// compare them with enumeration.
//
// Pools that may grow: a verdict holds for every size from count to max. Two lemmas (T17,
// T18) reduce the sizes to a few; where too many remain, the verdict is unknown.
// Sometimes is about the declared nodes.
//
// Does not import package check.
package search
