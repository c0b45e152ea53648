// Package inputs finds the renderable inputs in a tree: kustomizations, Helm charts and GitOps
// pointers. It also finds files that declare nodes.
//
// Contract: Choice adds renders to the options of a run. The flags, the configuration and the paths
// determine which renders it adds. Find searches everything below the given paths. Found.Print
// lists what it found, and Found.Block returns YAML that names the inputs in a configuration.
// Worker processes do the rendering. They run this same program, whose main function calls Work if
// the process was started with WorkerArgument.
//
// The tree is not trusted. A render cannot read outside the repository. If its path is in another
// work tree, it cannot read outside that work tree. No line of a printed list starts with a name
// from the tree, and invisible characters are escaped. A block is written only if the new
// configuration parses to the previous contents plus the block.
//
// Non-goals: rendering itself (package render), following pointers (package gitops), judging.
package inputs
