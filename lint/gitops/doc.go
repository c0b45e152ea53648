// Package gitops renders what GitOps pointers name, layer by layer: the pointers of the
// tree, those in what they deploy, and so on.
//
// Contract: Follow takes the pointers of a tree as they are written and the roots that were
// found beside them, and gives every deployment once: a pointer, one of its sources and
// the render of it, or why there is none. A pointer that a render contains is read from
// there and not as written: whoever deploys it may have patched it. Of the roots it gives
// those that no pointer names or reaches.
//
// Invariants: nothing outside of the confinement is named, and nothing is read but by the
// renderer and the lookup of that directory. Cycles end, since a deployment that is there
// already is not rendered again; one that changes with each turn ends at a depth. The
// number of deployments is bounded. Same input, same result: each layer is sorted.
//
// Values of charts come in the order of their controller, each with its places. If
// something that is not known may set values, nothing is rendered: it may set any.
//
// Non-goals: reading pointers (package pointers), building (package render).
package gitops
