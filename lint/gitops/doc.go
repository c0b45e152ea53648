// Package gitops renders what GitOps pointers deploy. It works in layers. The first layer contains
// the pointers in the tree. Each further layer contains the pointers in the renders of the layer
// before it.
//
// Contract: Follow takes the pointers in the tree and the roots found there. It returns every
// deployment once. A deployment consists of a pointer, one of its sources, and the rendered source
// or the reason why it was not rendered. If a render contains a pointer of the tree, the rendered
// version replaces the written one, because the build may have patched it. Follow also returns the
// roots that no pointer names or reaches.
//
// Invariants: no name leads out of the confinement directory. Only the renderer and the worktree
// lookup for that directory read files. No deployment is rendered twice, so a cycle of pointers
// ends. If each turn of the cycle changes the deployments, the cycle ends at a maximum depth. The
// number of deployments is limited. Each layer is in sorted order, so the same input gives the same
// result.
//
// For a pointer to an ExternalArtifact, the render gets the names in the artifact with the files of
// this repository that were copied there. They may come from several directories. A file that was
// not copied does not exist for the render.
//
// Chart values are in the order in which the controller applies them, with the positions at which
// they were written. If an unknown source may set values, the chart is not rendered, because this
// source may set any value.
//
// Non-goals: reading pointers (package pointers), building (package render).
package gitops
