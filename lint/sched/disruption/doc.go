// Package disruption says what becomes of workloads that fit today when something
// changes: a rollout replaces their pods, a node or a zone is lost, a node is
// drained, a machine migrates, an autoscaler adds replicas.
//
// Contract: New takes the model of one cluster; a Judge answers questions about
// one workload at a time and keeps what several answers need. Every question is
// put as a scene: copies of the workloads that have to do with the one in
// question, with the numbers and labels that they would have, on nodes that
// stand for all that are alike. The scene is decided by package search and confirmed
// certifies what it says, so nothing here reasons about filters.
//
// What a scene holds: the workloads that hard rules and host ports connect with
// the one in question, directly or not, and those that may fill a node with it
// as long as these are few. Of a crowd only counts tell (T16), and of rollouts that
// no further room is needed (C12); a never of the rules alone is one among others, too,
// and anything else is unknown. Pods that end
// by themselves (Job, CronJob) take no part: they make room again.
//
// Room: where others can close too few nodes to the pods, a further one always finds a
// node, whatever is lost, drained or rolled out (T16): that is asked first, and answers for
// most workloads of a large cluster.
//
// Rollouts: where old and new pods are the same to all rules, and fewer pods are
// never worse or a count shows that there is always room, one decision about a
// pod more, or about the pods as they are if one may be missing, tells
// everything (C8 of lint/sched/THEORY.md). Where rules see revisions, or spread
// and affinity make history matter, all states are gone through. Machines
// migrate as a rollout of one pod to another node. A remedy is offered only
// after the rollout was judged with it.
//
// Budget: package model says how many steps a question may take; its checker
// counts, too. One search takes no more than 100,000 filters of that. What the budget
// does not suffice for is unknown.
//
// Losses of nodes go from the cheapest means to the dearest: arithmetic over
// kinds of nodes, whose arguments are in package search and which
// is held against enumeration; a decision on the nodes that are left, where
// fewer pods are never worse; and a search, within the budget.
//
// Pools that may grow: a yes holds at every size from count to max. It is asked
// again at the sizes that search.SizesOf gives; where these only stand for the
// rest, it counts if it rests on placing alone. A never counts pools as large as
// they may be. What is left depends on how far the pools grow.
//
// Advice: Holds tries an edit of a workload, or more nodes, with rollouts and drains;
// facts offers only what holds. A trial takes no more than half of what is left of the
// budget of its question, and a workload by itself shares trials with those of its shape.
//
// For people who ask why, a Scene is such a scene on all declared nodes with the
// pods in place that a finding speaks of (standing.go); it decides nothing.
//
// It is a package of its own, above the others, since all questions but two searches (Roll
// and Lose) can be put as decisions, and it has its
// own reason to change.
//
// Non-goals: nothing here formats findings, and nothing is said of pods of
// which the model says that they are unknown.
package disruption
