// Package revision reads revisions of a git repository: what git tracks, and the tree of a
// commit, unpacked in a directory of its own.
//
// Contract: Files and ID ask git about the index and about a revision. Unpack writes the files
// and links of a tree below a new directory, those of checked-out submodules included; Tree finds
// paths of the work tree in it. What git is not sure of, such as a name that means two things, is
// an error.
//
// The repository and the objects in it are hostile. git runs without hooks, filters, network and
// programs that a configuration names, and writes nothing. No name and no link of a tree leads out
// of the directory, and no repository outside of the work tree is read. Sizes are asked for before
// texts are read; an error names the limit.
//
// Non-goals: comparing revisions, checking out, fetching what a shallow clone lacks.
package revision
