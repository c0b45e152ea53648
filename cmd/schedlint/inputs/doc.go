// Package inputs finds the renderable inputs in a tree: kustomizations, Helm charts and GitOps
// pointers. It also finds files that declare nodes.
//
// Contract: Choice adds the renders that the flags, the configuration and the paths request to the
// options of a run. Find searches everything below the given paths. Found.Print lists the result,
// and Found.Block returns the YAML that names the inputs in a configuration. Rendering happens in
// worker processes, which run this same program: main calls Work if the process has the argument
// WorkerArgument.
//
// The tree is not trusted. Each render is confined to the repository or, if its path is in another
// work tree, to that work tree. No line of a printed list begins with a name from the
// tree, and invisible characters are escaped. A block is written only if the new configuration
// parses to the previous contents plus the block.
//
// Non-goals: rendering itself (package render), following pointers (package gitops), judging.
package inputs
