// Package inputs finds what can be rendered in a tree: kustomizations, Helm charts and GitOps
// pointers. It also finds the files that declare nodes.
//
// Contract: Choice adds to the options of a run what flags, the configuration and the paths ask to
// render. Find searches everything below some paths; Found.Print lists the result, and Found.Block
// returns the text that names it in a configuration. Rendering happens in worker processes, which
// run this same program: main calls Work in a process with the argument WorkerArgument.
//
// The tree is hostile. Each render is confined to the repository, or else to the work tree around
// its path. No line of a list begins with a name from the tree, and no byte in it is hidden. A
// block is written only if the resulting configuration reads as before, with exactly the block
// added.
//
// Non-goals: rendering itself (package render), following pointers (package gitops), judging.
package inputs
