// Package disruption decides what happens to workloads that fit today when something changes: a
// rollout replaces their pods, a node or a zone is lost, a node is drained, a virtual machine
// migrates, or an autoscaler adds replicas.
//
// Contract: New takes a model of one cluster. A Judge answers questions about one workload at a
// time and caches intermediate results that several answers need. It turns each question into a
// scene, which is a small hypothetical cluster. The scene has copies of the workload and of all
// workloads that interact with it, with hypothetical replica counts and labels, on a few nodes
// that represent all equivalent ones. Package search decides the scene, and the checker confirms
// the result, so this package does not evaluate filters itself.
//
// Workloads in a scene: a scene includes the workloads that hard rules or host ports connect with
// the workload in question, directly or transitively, and the workloads that may fill a node
// together with it. If the latter are too many to search, they are a crowd. Counting may still show
// that some node always has room (T16), or that a rollout needs no extra room (C12), and prices
// show the first as well (T27): the search looks for them on the nodes that are left, also under
// hard spreads, and the checker adds them up. Two whole runs, one that leaves pods Pending and one
// that does not, give the outcome sometimes (T25): they are made on a search.Board, in fixed random
// orders or aimed at one workload, and the checker replays them. If the rules alone give the
// outcome never, a crowd does not change it. Any other outcome is unknown. Pods that finish (Job,
// CronJob) are omitted because they eventually free their room.
//
// Room: if the other pods cannot fill or block all the nodes that could take a pod, the pod
// always finds a node, whatever is lost, drained or rolled out (T16). This check comes first and
// answers most questions about a large cluster.
//
// Rollouts: a single decision often settles a rollout (C8 in lint/sched/THEORY.md). There are two
// conditions. No rule may distinguish old pods from new ones. Fewer pods must never be worse, or a
// count must show that there is always room. The decision is about one more pod, or about the
// current number if one pod can be unavailable. If rules distinguish revisions, or if spread and
// affinity make history matter, all states are searched. If not all pods of the contenders fit, the search
// begins where those of the workload run, and pods that wait take room that is freed. A machine
// migration is treated like a rollout of one pod to another node. A remedy is offered only after the
// rollout has been judged with it.
//
// DaemonSets: their pods stay where they are while other workloads change. Where only the room that
// they take matters, a question is asked first without them (C16). Only an outcome of always is used.
// Other outcomes come with runs and cores, which all pods belong to.
//
// Budget: package model sets the number of steps that a question can take, and the checker's
// steps count against the same budget. One search can apply at most 100,000 filters, and
// 400,000 about at most 16 pods. If the budget is exceeded, the answer is unknown. A question may use
// sixteen times its share, because few questions do. With less, a first search could use up the steps that a
// second one needs, so that a larger budget would lose answers.
//
// States: a question about a drain or a loss is about each state in which no more pods can be placed and
// all pods of the workload and of DaemonSets run. Pods of others that are Pending contend for room. Drains and
// losses of single nodes may come before, if the node returns: with hard spread constraints or required
// affinity, they lead to states that placing pods does not (T7). The answer always holds in all of these
// states, the answer never in those that placing pods leads to. A search (search.History) finds them all if
// they are few; otherwise only proofs that do not depend on the state give always.
//
// Node losses are decided by the cheapest method that works. The first method is arithmetic over
// node kinds, which package search justifies and tests compare with enumeration. The second is a
// decision on the remaining nodes, which works if fewer pods are never worse. The last is a
// search within the budget.
//
// Volumes: a pod that has run stays in the domain where its volume was made (T30, T31). Proofs about
// one more pod then count only the nodes of that domain. If it is not known what a StorageClass does,
// the question is asked for each possibility, and different answers become unknown. The volumes of a
// StatefulSet's pods may exist already, each for one value of a node label. Every run of these pods is
// also a run of pods that start anywhere and then stay, so proofs about the latter hold for them. A
// search distinguishes the pods by their filters. Rollouts have no such search. Where no label describes
// the nodes of each volume, nothing is judged.
//
// Pools that may grow: an outcome of always must hold at every size from count to max. The question
// is repeated at the sizes that search.SizesOf lists. If the list contains only representative
// sizes, the outcome must also follow from placement alone. An outcome of never is decided with the
// pools at their maximum size. In all other cases the outcome depends on how far the pools grow and
// is unknown.
//
// Autoscalers: a workload has each number of pods from the minimum to the maximum at some time, and so
// have those judged together with it. Rollouts, losses and drains are judged at each choice of numbers
// (sizes.go), in a model without autoscalers, so that an answer is never better than that about the same
// number written in the manifest. If there are too many choices, the smallest, the declared and the
// largest numbers are judged, and a yes also needs a proof: no rule needs or counts other pods, and at
// the largest numbers all pods are placed on the nodes that are left however the others are placed. A
// placement of fewer pods is a part of such a placement. Choices with more pods than fit are left out,
// because the question about the autoscaler covers them. In a context of more than 200 workloads only the
// smallest numbers are judged, and a yes beside autoscaled workloads is unknown. The question about the
// autoscaler itself begins when the minimum and all other pods run: orders in which its pods come before
// theirs are no answer, except where they never all run.
//
// Advice: Holds applies an edit to a workload, or adds nodes, and judges rollouts and drains
// after that change. Package facts offers only advice that holds. A trial uses at most half of
// its question's remaining budget, and isolated workloads with the same shape share trials.
//
// To explain a finding, a Scene shows all declared nodes with the relevant pods in place
// (scene.go). It decides nothing.
//
// Except for two searches (Roll and History), the package poses every question as a decision.
//
// Non-goals: it formats no findings, and it does not judge pods whose placement the model reports
// as unknown.
package disruption
