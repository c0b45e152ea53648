// Package change says what becomes of workloads that fit today when something
// changes: a rollout replaces their pods, a node or a zone is lost, a node is
// drained, a machine migrates, an autoscaler adds replicas.
//
// Contract: New takes the model of one cluster; a Judge answers questions about
// one workload at a time and keeps what several answers need. Every question is
// put as a scene: copies of the workloads that have to do with the one in
// question, with the numbers and labels that they would have, on nodes that
// stand for all that are alike. The scene is decided by package placement, which
// certifies what it says, so nothing here reasons about filters.
//
// What a scene holds: the workloads that hard rules and host ports connect with
// the one in question, directly or not, and those that may fill a node with it
// as long as these are few. Beyond that a verdict is about rules and the pods'
// own requests, and contention with strangers is not looked at. Pods that end
// by themselves (Job, CronJob) take no part: they make room again.
//
// Losses of nodes go from the cheapest means to the dearest: arithmetic over
// kinds of nodes, whose arguments stand beside it in package placement and which
// is held against enumeration; a decision on the nodes that are left, where
// fewer pods are never worse; and a search, within the budget. Where pools may
// grow, a verdict of never counts them as large as they may be.
//
// Non-goals: nothing here formats findings, and nothing is said of pods of
// which the model says that they are unknown.
package change
