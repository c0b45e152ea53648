// Package revision reads revisions of a git repository. It lists the tracked files and unpacks the
// tree of a commit into a temporary directory.
//
// Contract: Files and ID query the index and a revision. Unpack writes the files and links of a
// tree below a new directory, including those of checked-out submodules, and Tree maps paths of
// the work tree to that directory. If git considers the name of a revision ambiguous, the result
// is an error.
//
// The repository and its objects may be hostile. git runs without hooks, filters, network access
// and programs named in its configuration, and it writes nothing. No name and no link in a tree
// leads out of the directory, and no repository outside of the work tree is read. Sizes are
// checked before contents are read, and the error names the limit.
//
// Non-goals: comparing revisions, checking out, fetching objects that a shallow clone lacks.
package revision
