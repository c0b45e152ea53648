// Package search finds out what the scheduler can do with all workloads together: over
// every order in which pods are scheduled and every choice among feasible nodes.
//
// Contract: Decide gives a verdict for each workload: always, never, sometimes or
// unknown. Explain gives the core of what never fits and repairs; Conflicts is what
// linting says of workloads together. Lose and Roll go through what follows on
// placements of all pods: a loss of nodes, a rollout.
//
// How Decide works: pods that selectors can tell apart become workloads of their own
// (model.Split), workloads that nothing tells apart become one (merge.go), the instance
// turns names into numbers (instance.go), and components are pod groups that interact.
// The cheapest means that settles a component is used: closed forms (closed_forms.go);
// proofs without search (estimate.go: flows and weights show never, counts and matchings
// show always or give the run that gets stuck, colorings either); a search over states
// that differ by more than the names of equivalent nodes (search.go); else bounds.
// Where a component stays open, or is never or sometimes as a whole, the workloads that
// others cannot keep out are always placed by themselves (headroom.go, T21). Pods whose
// company never comes take no room (T20).
//
// Every verdict is certified and confirmed by the Checker that the model carries
// (confirm.go). A certificate that does not hold leaves what it is about unknown and is
// reported as an internal failure (Run.Refused); one that takes too long to check leaves
// the verdict unknown. The largest and smallest numbers of pods are not certified
// beyond what the runs show, nor are the quick answers about losses (loss_fits.go),
// which are held against enumeration by tests.
//
// Pools that may grow: a verdict holds for every size from count to max. Two lemmas
// (T17, T18) leave few sizes to decide about; where there are too many the verdict is
// unknown. Sometimes is about the declared nodes.
//
// Does not import package check.
package search
