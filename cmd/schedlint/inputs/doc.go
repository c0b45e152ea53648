// Package inputs finds what of a tree can be rendered: kustomizations, Helm charts and GitOps
// pointers, with the files that declare nodes.
//
// Contract: Choice adds to the options of a run what flags, the configuration and the paths ask to
// render. Find looks at everything below some paths; Found.Print lists it, and Found.Block is the
// text that names it in a configuration. Rendering happens in worker processes, which are this very
// program: main runs Work in a process that has WorkerArgument.
//
// The tree is hostile. Each render is confined to the repository, or else to the work tree around
// its path. No line of a list begins with a name from the tree, and no byte in it is hidden. A block
// is written only if the configuration then reads as before, with exactly the block added.
//
// Non-goals: rendering itself (package render), following pointers (package gitops), judging.
package inputs
