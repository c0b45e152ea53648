// Package revision reads revisions of a git repository. It lists tracked files and unpacks a
// commit's tree into a temporary directory.
//
// Contract: Files queries the index, and ID queries a revision. Unpack writes the files and links
// of a tree, including those of checked-out submodules, to a new directory. A Tree maps paths of
// the work tree to that directory. If git considers the name of a revision ambiguous, the result
// is an error.
//
// The repository and its objects may be hostile. git runs no hooks, filters or programs named in
// its configuration, uses no network, and writes nothing. No name or link in a tree leads out of
// the directory, and no repository outside the work tree is read. The package checks sizes before
// it reads contents. The error for excessive sizes names the limit.
//
// Non-goals: comparing revisions, checking out, fetching objects that a shallow clone lacks.
package revision
