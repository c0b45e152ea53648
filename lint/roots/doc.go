// Package roots finds out what a tree holds that can be rendered: kustomizations,
// charts, GitOps pointers, and the files that declare nodes.
//
// Contract: Find walks paths by the rules of source.Walk and gives Found. A root is a
// kustomization that is rendered on its own: no Component, and nothing that is
// rendered refers to it. References are resources, bases, components, generators,
// transformers and validators that name a directory. Only what lies below the paths is
// a root, and only references of what was read count.
//
// Invariants: every kustomization below the paths that is no Component is a root or is
// reached from one. Of a cycle that nothing else refers to, the first by name is a
// root. References of a Component that no root reaches do not count, since it is never
// rendered. Same tree, same Found, whatever the order of the paths. Nothing outside of
// the root of confinement is read; a pipe or a device is not opened. Work is bounded in
// entries of directories, steps of paths and bytes; what is left out is in Unread or a
// Reason.
//
// What keeps a root from rendering offline is what can be seen without rendering: a
// URL, a Helm chart, a file that is missing or lies outside, a kustomization that does
// not parse. A root without a Reason may still fail to render.
//
// Non-goals: rendering; whether patches apply; reading charts.
package roots
