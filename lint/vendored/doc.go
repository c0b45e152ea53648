// Package vendored copies rules into a folder of the repository. Later, it checks that the folder
// still contains exactly what was copied.
//
// Contract: Open reads a folder or a gzipped tar archive, which may be an OPA bundle. It keeps rule
// files, their tests and fixtures, READMEs and licenses. It lists everything else in Left. Write
// replaces the content of a folder with the files and their lock in one step. If anything fails,
// the folder keeps its previous content. Check compares every folder that has a lock with the lock,
// file by file. A lock contains the SHA-256 of each file, the SHA-256 of all files together, and
// the source as the user named it. For an absolute path, it contains only the last path element.
//
// Sources are hostile. The name of an archive entry is checked before it is used as a path. Files
// stay in memory until all of them have been checked. Links, devices, names outside the folder,
// duplicates, and names that collide on a case-insensitive file system are errors. Entries and
// bytes are counted while they are read, and an error about a limit names the limit. In a work
// tree, the package follows no link on the path to the folder.
//
// Invariants: the same source gives the same bytes, regardless of the order of its entries.
//
// The checks of names, the walk within limits and the format of locks also serve package
// thirdparty.
//
// Non-goals: fetching, signatures, versions; judging rules (package rego).
package vendored
