// Package roots finds everything in a tree that can be rendered: kustomizations, charts and GitOps
// pointers. It also finds the files that declare nodes.
//
// Contract: Find walks paths by the rules of source.Walk and returns Found. A root is a
// kustomization that is rendered on its own. It is not a Component, and no rendered kustomization
// refers to it. References are resources, bases, components, generators, transformers and
// validators that name a directory. Only references in files that were read count. Roots are below
// the paths.
//
// Invariants: every kustomization below the paths is a root or is reached from one, except
// Components. A cycle may have no references from outside. Then its first kustomization by name is
// the root. A Component that no root reaches is never rendered, so its references do not count. The
// same tree gives the same Found, regardless of the order of the paths. Find reads nothing outside
// the confinement directory and opens no pipes or devices. There are limits on the number of
// directory entries, path elements and bytes. Anything beyond a limit is listed in Unread or
// reported as a Reason.
//
// A Reason says why a kustomization cannot be rendered offline. Only problems that are visible
// without rendering get a Reason: a URL, a Helm chart, a file that is missing or outside the tree,
// or a kustomization that does not parse. A root without a Reason may still fail to render.
//
// Non-goals: rendering; checking whether patches apply; reading charts.
package roots
