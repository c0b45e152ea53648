// Package gitops renders what GitOps pointers deploy, layer by layer: the pointers of the tree,
// then the pointers in their renders, and so on.
//
// Contract: Follow takes the pointers of a tree as they are written, and the roots that were found
// in the tree. It returns every deployment once: a pointer, one of its sources, and the render of
// that source or the reason why there is none. If a render contains a pointer, the rendered version
// counts instead of the written one, because what deploys it may have patched it. Of the roots, it
// returns those that no pointer names or reaches.
//
// Invariants: no name leads out of the confinement, and only the renderer and the lookup of that
// directory read files. Cycles end, because a known deployment is not rendered again, and a cycle
// that changes its deployments in each turn ends at a maximum depth. The number of deployments is
// limited. The same input gives the same result: each layer is sorted.
//
// Values of charts are in the order of their controller, each with its places. If an unknown source
// may set values, nothing is rendered, because it may set any value.
//
// Non-goals: reading pointers (package pointers), building (package render).
package gitops
