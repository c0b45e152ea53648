// Package revision reads revisions of a git repository: the list of tracked files, and the tree of
// a commit, which it unpacks into a temporary directory.
//
// Contract: Files and ID query git about the index and about a revision. Unpack writes the files
// and links of a tree below a new directory, including those of checked-out submodules; Tree maps
// paths of the work tree to it. If git considers a revision ambiguous, such as a name with two
// meanings, the result is an error.
//
// The repository and its objects are hostile. git runs without hooks, filters, network access and
// programs that a configuration names, and writes nothing. No name and no link of a tree leads out
// of the directory, and no repository outside the work tree is read. Sizes are checked before texts
// are read; an error names the limit.
//
// Non-goals: comparing revisions, checking out, fetching objects that a shallow clone lacks.
package revision
