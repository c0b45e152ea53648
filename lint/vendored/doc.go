// Package vendored copies the rules of others into a folder of the repository, and later
// says whether the folder still holds what was copied.
//
// Contract: Open reads a folder or a gzipped tar archive, an OPA bundle included, and
// keeps rule files, their tests and fixtures, READMEs and licenses; everything else is
// named in Left. Write puts the files and their lock into a folder, all at once: a
// failure leaves what was there. Check compares every folder with a lock against it,
// file by file. A lock has the SHA-256 of each file and of the whole, and the source
// as it was given; only the last element of an absolute path.
//
// Sources are hostile. No entry of an archive is ever used as a path: the name is
// checked, and files are held in memory until all is known to be right. Links, devices,
// names that lead outside, duplicates, and names that some file system takes for one
// are errors. Entries and bytes are counted while they are read; an error names the
// limit. In a work tree no link is followed on the way to the folder.
//
// Invariants: the same source gives the same bytes, whatever the order of its entries.
//
// Non-goals: fetching, signatures, versions; judging rules, which is for package rego.
package vendored
