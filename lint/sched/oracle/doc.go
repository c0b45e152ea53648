// Command oracle holds schedlint's placement engine against the code of
// Kubernetes itself. It is a module of its own, since that code brings some
// thousand packages along; the main module never imports it.
//
// What is real: defaulting, admission of tolerations, preparation and
// validation of objects by the registry strategies (api.go); the pods that
// controllers make of them, with the labels that they add (pods.go); PreFilter
// and Filter of the scheduler's default plugins, run by its framework on its
// NodeInfos, and the admission of the kubelet for pods that name their node
// (world.go); and PreScore and Score of these plugins (scores.go). Devices are left out.
//
// Volumes (volumes.go): the plugins VolumeBinding, VolumeZone, VolumeRestrictions and
// NodeVolumeLimits are real. What the PV controller, a StatefulSet's claims and a provisioner
// do is ours, since the real ones need informers and an API server, which are too slow to
// explore with. A case may declare PersistentVolumeClaims, PersistentVolumes, StorageClasses
// and CSINodes. Claims are bound before there are pods, as the controller binds them. When a
// pod is placed, Reserve and PreBind are imitated: each claim that waits for the pod gets the
// smallest volume that suits, by the function that the scheduler uses, or a new one that a stub
// makes; taking the pod away unbinds it again. The annotation stub/pinned of the class, which is
// zone, node or free, says where a new volume can be used. Of several volumes of one size a
// claim gets the first by name, where the scheduler takes any. The volume of an unbound claim of an
// immediate class is made before there are pods, in the domain of any node that the class allows:
// each choice is explored. A claim that is not declared, or whose class is not, has a volume that
// every node can use.
//
// What is ours: exploring all states that a scheduler can reach by placing any
// pending pod on any node that passes (explore.go), of many nodes those that
// nothing tells apart as one (symmetry.go); random small clusters of several
// families, large ones of few kinds of nodes, and small ones of what teams usually run
// (fixtures/clusters); comparing filters along random runs, validation, verdicts,
// numbers and replayed runs (compare.go, decide.go), also with small budgets and
// without contention (rules.go), and the bounds of each workload (bounds.go); and shrinking what differs (shrink.go). Refusals that our side does
// not claim to find are listed in claims.go; they are counted, not hidden. The
// bugs kubernetes#141526 and kubernetes#141339 are part of v1.36, and so of the
// answers.
//
// Scores are compared in each state of random runs, on cases that get preferred terms,
// soft constraints, taints and Services (soften), and whole runs pod by pod. In a
// third comparison kube-scheduler itself runs against a client in memory:
//
//	SCHEDLINT_STATES=2000 go test -run TestScores .     # 20,000 states
//	SCHEDLINT_RUNS=200 go test -run TestSequential .    # two minutes
//	SCHEDLINT_SCHEDULER=1 go test -run TestScheduler .  # minutes
//
// What the API server refuses, object by object, is recorded in
// fixtures/oracle/validation for the main module to replay (validation.go);
// SCHEDLINT_UPDATE=1 go test -run TestValidation . records it anew.
//
// Assumptions: namespaces that no manifest declares have no labels but their
// name; a node has plenty of what it does not list, but for extended resources
// on nodes that list others; a bound pod has the zone and region labels of its
// node.
//
//	go run . -cases 1000 -seed 1                 # all families, as a table
//	go run . -family spread -case 17 -seed 1     # one case, and what is said of it
//	go run . -shrink ../../../fixtures/oracle    # keep what differs as fixtures
//	go run . -gallery ../../../fixtures/oracle   # small cases in which order matters
//	go run . -answer ../../../fixtures/oracle    # write the answers of all fixtures
//	go test ./...
//
// The columns of the table: verdicts of the scheduler; undet., where our side
// gives none; open, where manifests do not tell what a selector selects, so that
// it may; beyond, refusals that our side does not claim to find; discard, more
// states than the cap.
package main
