// Package gitops renders what GitOps pointers deploy. It works layer by layer: first it renders the
// pointers in the tree, then the pointers that those renders contain, and so on.
//
// Contract: Follow takes the pointers as written in the tree, and the roots found there. It returns
// every deployment once. A deployment is a pointer, one of its sources, and either the rendered
// source or the reason why it was not rendered. If a render contains a pointer, the rendered
// version replaces the written one, because the build that deploys the pointer may have patched it.
// Follow also returns the roots that no pointer names or reaches.
//
// Invariants: no name leads out of the confinement directory, and only the renderer and the
// worktree lookup for that directory read files. A cycle of pointers ends because no deployment is
// rendered twice. If each turn of the cycle changes the deployments, the cycle ends at a maximum
// depth. The number of deployments is limited. Each layer is in sorted order, so that the same
// input gives the same result.
//
// Chart values are in the order in which the controller applies them, with the places where they
// were written. If an unknown source may set values, the chart is not rendered, because that source
// may set any value.
//
// Non-goals: reading pointers (package pointers), building (package render).
package gitops
