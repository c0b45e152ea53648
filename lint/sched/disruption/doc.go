// Package disruption decides what happens to workloads that fit today when something
// changes: a rollout replaces their pods, a node or a zone is lost, a node is
// drained, a virtual machine migrates, or an autoscaler adds replicas.
//
// Contract: New takes the model of one cluster. A Judge answers questions about
// one workload at a time and caches intermediate results that several answers need. It
// turns each question into a scene: copies of the workload and of all workloads that
// interact with it, with hypothetical replica counts and labels, on a few nodes that
// represent all equivalent ones. Package search decides the scene, and the checker
// confirms the result, so this package does not evaluate filters itself.
//
// Workloads in a scene: a scene holds the workloads that hard rules or host ports
// connect with the workload in question, directly or transitively, and the workloads that may
// fill a node with it. If there are too many of the latter (a crowd), only counting decides,
// for example that some node always has room (T16) or that a rollout needs no extra room (C12).
// If the outcome is never by the rules alone, it is never in a crowd too. Anything else is unknown.
// Pods that finish (Job, CronJob) are left out because they free their room again.
//
// Room: if the other pods can fill or block fewer nodes than could take the pod, the pod always
// finds a node, whatever is lost, drained or rolled out (T16). This check comes first, and it
// answers most questions about a large cluster.
//
// Rollouts: often one decision settles the rollout (C8 of lint/sched/THEORY.md). This
// requires that no rule distinguishes old pods from new ones, and that either fewer pods are never
// worse or a count shows that there is always room. The decision is about one more pod, or about
// the current number if one pod may be unavailable. If rules distinguish revisions, or if
// spread and affinity make history matter, all states are searched. A machine
// migrates like a rollout of one pod to another node. A remedy is offered only after the
// rollout has been judged with it.
//
// Budget: package model sets the number of steps that a question may take, and the steps of its
// checker count against the same budget. One search may apply at most 100,000 filters. If the
// budget is exceeded, the answer is unknown.
//
// Losses of nodes are decided by the cheapest method that works. The first is arithmetic over
// kinds of nodes, which package search justifies and tests compare with enumeration. The second is
// a decision on the remaining nodes, if fewer pods are never worse. The last is a search
// within the budget.
//
// Pools that may grow: the outcome is always only if it is always at every size from count to
// max. The question is repeated at the sizes that search.SizesOf lists. If these only represent
// the other sizes, the outcome must also follow from placement alone. Whether it is never is
// decided with pools at their maximum. In all other cases it depends on how far the pools grow
// and is unknown.
//
// Advice: Holds applies an edit to a workload, or adds nodes, and judges rollouts and
// drains of the result. Package facts offers only advice that holds. A trial takes at most half of
// the remaining budget of its question, and isolated workloads of the same shape share trials.
//
// To explain a finding, a Scene shows all declared nodes with the relevant pods in place
// (scene.go). It decides nothing.
//
// The package is separate from the ones below it because every question except two searches
// (Roll and Lose) is posed as a decision, and because it changes for different reasons.
//
// Non-goals: it formats no findings, and it does not judge pods whose placement the model
// reports as unknown.
package disruption
