// Package placement says what the scheduler can do with workloads on nodes.
//
// Contract: NewModel takes the workloads and the topology of one cluster.
// Selection questions (which pods a term selects) are answered without nodes;
// Eligible applies the node-level filters; Capacity bounds how many pods of one
// workload can be placed, by the closed forms R-M1 to R-M5 of
// lint/sched/THEORY.md; Decide decides about all workloads together, over every order and
// every choice, and Explain gives the core of what never fits. Conflicts and
// Shortages are what linting says of workloads together. State applies the
// filters one pod and one node at a time and nothing cleverer; Stand and Still
// are, for people who ask why, what it says to one more pod on each node.
//
// Pods that end by themselves take no room for good (permanent.go): a decision is
// about the others, and each workload of pods that end has a verdict of its own.
// A rule that counts on pods which take no part leaves the answer open. Every open
// answer names its cause.
//
// Budget: whatever may cost more than a look at the input counts steps; run.go says
// how many a question may take, shared budget.go who gets what others leave. What is given up
// is open, and Run.GivenUp tells. A fault of the program in a question costs that
// question (fault.go).
//
// How Decide goes: pods that selectors can tell from their siblings become
// workloads of their own (split.go), workloads that nothing tells apart become one
// (equal.go), the instance makes numbers of the model, and components are units that
// have to do with one another. Each is settled by the cheapest means that does:
// closed forms (closed.go), proofs without search
// (large.go: flows and weights say never, counts and matchings say always or
// give the run that gets stuck, colourings either), then a search over states
// that are alike but for the names of like nodes (search.go), else bounds.
//
// Every verdict is certified. always and never come with a proof in terms of
// workloads, nodes and labels (proof.go), order-dependent with two runs. A
// checker that shares nothing with all this but the parsed model (verify*.go,
// check*.go, ledger.go; a test keeps it so) replays the runs and holds the
// proofs, each by its own count; where a search was needed it goes through the
// states again. A certificate that does not hold leaves what it is
// about open and is told as an internal failure (Run.Refused), one that takes too
// long to check leaves the verdict undetermined. What is not certified: the
// largest and smallest numbers of pods, beyond what the runs show.
//
// Lose and Roll go through what follows on placements of all pods: a loss of
// nodes and repairs, a rollout. Their checkers go through all states again.
// Room settles most losses by arithmetic alone; like other quick answers it is
// not certified but held against enumeration.
//
// Invariants: every filter cites the upstream file that it mirrors or the rule of
// lint/sched/SEMANTICS.md. A bound is never too low, so "infeasible" is never said of something that
// can work: pools count at their max in any of their zones, what a node does
// not declare is not held against a pod, and what the input leaves open makes
// the answer unknown. Answers do not depend on the order of the input.
//
// Resources: of a native resource that a node's list lacks the node has none if
// the list is whole (package topology says when), else the node is not judged on
// it. Of an extended resource it has none if another node or pool lists it. If
// none does, the pods that request it are decided about as if it were unlimited,
// and then every verdict but never is taken back (unlisted.go).
//
// Pools that may grow: Decide, like linting, gives an upper limit over every size,
// and always only where it holds at every size from count to max. Two lemmas, with
// their proofs beside Sizes, leave few sizes to decide about; where there are too
// many the verdict is open. Order-dependent is about the declared nodes. Linting
// takes the limits of one workload from Capacity. The checker holds the engine's
// closed forms against Capacity's. Nothing here formats findings.
package model
