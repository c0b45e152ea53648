// Package roots finds what can be rendered in a tree: kustomizations, charts and GitOps pointers.
// It also finds the files that declare nodes.
//
// Contract: Find walks paths by the rules of source.Walk and returns Found. A root is a
// kustomization that is rendered on its own: it is not a Component, and no rendered kustomization
// refers to it. References are resources, bases, components, generators, transformers and
// validators that name a directory. Only kustomizations below the paths are roots, and only
// references of files that were read count.
//
// Invariants: every kustomization below the paths that is not a Component is a root or is reached
// from one. In a cycle that nothing else refers to, the first one by name is a root. References of
// a Component that no root reaches do not count, because it is never rendered. The same tree gives
// the same Found, whatever the order of the paths. Nothing outside the root of confinement is read;
// pipes and devices are not opened. The work is limited in directory entries, steps of paths and
// bytes; what is left out is in Unread or in a Reason.
//
// Reasons against rendering offline are those that are visible without rendering: a URL, a Helm
// chart, a file that is missing or outside the tree, a kustomization that does not parse. A root
// without a Reason may still fail to render.
//
// Non-goals: rendering; checking whether patches apply; reading charts.
package roots
