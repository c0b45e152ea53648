// Package gitops renders what GitOps pointers deploy. It works layer by layer: first it renders the
// pointers of the tree, then the pointers in their renders, and so on.
//
// Contract: Follow takes the pointers as written in the tree, and the roots found there. It returns
// every deployment once. A deployment is a pointer, one of its sources, and either the rendered
// source or the reason why it was not rendered. If a render contains a pointer, the rendered
// version replaces the written one, because whatever deploys the pointer may have patched it.
// Follow also returns the roots that no pointer names or reaches.
//
// Invariants: no name leads out of the confinement directory, and only the renderer and the
// worktree lookup for that directory read files. A cycle of pointers ends because a known
// deployment is not rendered again. If each turn of the cycle changes the deployments, it ends at a
// maximum depth. The number of deployments is limited. Each layer is sorted, so that the same input
// gives the same result.
//
// Chart values are in the order in which the controller applies them, each with the places where it
// was written. If an unknown source may set values, the chart is not rendered, because that source
// may set any value.
//
// Non-goals: reading pointers (package pointers), building (package render).
package gitops
