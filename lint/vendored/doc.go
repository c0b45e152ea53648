// Package vendored copies the rules of others into a folder of the repository, and later checks
// whether the folder still contains what was copied.
//
// Contract: Open reads a folder or a gzipped tar archive, including an OPA bundle, and keeps rule
// files, their tests and fixtures, READMEs and licenses; Left lists everything else. Write writes
// the files and their lock into a folder in one step: a failure leaves the previous content. Check
// compares every folder with a lock against that lock, file by file. A lock has the SHA-256 of each
// file and of the whole, and the source as the user named it; of an absolute path it has only the
// last element.
//
// Sources are hostile. No entry of an archive is ever used as a path: its name is checked, and
// files stay in memory until all of them pass. Links, devices, names that lead outside, duplicates,
// and names that are equal on some file system are errors. Entries and bytes are counted while they
// are read; an error names the limit. In a work tree no link is followed on the way to the folder.
//
// Invariants: the same source gives the same bytes, whatever the order of its entries.
//
// Non-goals: fetching, signatures, versions; judging rules (package rego).
package vendored
