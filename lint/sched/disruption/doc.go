// Package disruption decides what happens to workloads that fit today when something
// changes: a rollout replaces their pods, a node or a zone is lost, a node is
// drained, a virtual machine migrates, or an autoscaler adds replicas.
//
// Contract: New takes the model of one cluster. A Judge answers questions about
// one workload at a time and caches what several answers need. Each question is
// posed as a scene: copies of the workloads that interact with the one in
// question, with hypothetical replica counts and labels, on a few nodes that
// represent all equivalent ones. Package search decides the scene, and the checker
// confirms the result, so nothing here reasons about filters.
//
// What a scene holds: the workloads connected to the one in question by hard rules
// or host ports, directly or transitively, and those that may fill a node with it,
// as long as they are few. If they are too many (a crowd), only counting decides: that
// a node is always free (T16), or that a rollout needs no extra room (C12). A never that
// follows from the rules alone also holds among others; anything else is unknown. Pods
// that finish (Job, CronJob) are left out: they free their room again.
//
// Room: if the other pods can close fewer nodes than take the pod, it always finds a
// node, whatever is lost, drained or rolled out (T16). This is checked first, and
// answers most questions about a large cluster.
//
// Rollouts: if no rule distinguishes old pods from new ones, and either fewer pods are
// never worse or a count shows that there is always room, one decision with one more
// pod, or with the current number if one may be unavailable, settles the rollout
// (C8 of lint/sched/THEORY.md). If rules see revisions, or spread and affinity
// make history matter, all states are searched. A machine migrates like a rollout of
// one pod to another node. A remedy is offered only after the rollout has been judged
// with it.
//
// Budget: package model says how many steps a question may take, and its checker counts
// against the same budget. One search may apply at most 100,000 filters. If the budget is
// exceeded the answer is unknown.
//
// Losses of nodes are decided by the cheapest method that works: first arithmetic over
// kinds of nodes, which package search justifies and tests compare with enumeration; then
// a decision on the remaining nodes, where fewer pods are never worse; then a search
// within the budget.
//
// Pools that may grow: a yes has to hold at every size from count to max. The question is
// repeated at the sizes that search.SizesOf lists. If these only represent the other
// sizes, the yes counts only if it rests on placement alone. A never is decided with pools
// at their maximum. Any other answer depends on how far the pools grow.
//
// Advice: Holds tries an edit of a workload, or additional nodes, and judges rollouts and
// drains with it; package facts offers only what holds. A trial takes at most half of the
// remaining budget of its question, and isolated workloads of the same shape share trials.
//
// To explain a finding, a Scene shows all declared nodes with the pods in place that
// the finding is about (scene.go). It decides nothing.
//
// The package is separate from the ones below it because every question except two searches
// (Roll and Lose) is posed as a decision, and because it changes for reasons of its own.
//
// Non-goals: it formats no findings, and it answers nothing about pods that the model
// reports as unknown.
package disruption
