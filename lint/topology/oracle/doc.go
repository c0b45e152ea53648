// Command oracle compares what lint/topology and lint/sched/model make of a NodePool with the code of
// Karpenter itself. It is a separate module, because Karpenter depends on a hundred packages of
// Kubernetes; the main module never imports it.
//
// Karpenter's part: the NodeClaimTemplate of a NodePool, Compatible and ToleratesPod for each term of
// a pod's node affinity, and the labels of the NodeClaim that it makes for the pod (karpenter.go). The
// labels that AWS adds to the well-known ones are registered as its provider does. A pod counts as
// eligible only if the kube-scheduler's node affinity lets it onto that node: Karpenter also makes
// nodes in vain. The instance types of a cloud are left out.
//
// Our part: random NodePools and pods as YAML (generate.go), read as a node file and a manifest.
// If pods are eligible on our side, they must be with Karpenter, and if no node takes them on our
// side, Karpenter must make none. Where our side does not know, the reasons are counted. Not generated
// are matchFields and empty terms, which Karpenter ignores, minValues, and several NodePools at once.
// NodePools with labels that their requirements exclude are refused on our side only.
//
//	go run . -cases 5000 -seed 1
//	go run . -case 17 -seed 1     # one of them, with its YAML
//	go test ./...
//
// controller-runtime is newer than the one that Karpenter names, because that one does not build with
// Kubernetes 1.36.
package main
