// Package thirdparty describes the folder with copies of charts and directories that manifests name
// by an address elsewhere. A lock in the folder maps each address to its copy.
//
// Contract: Parse reads a lock, and Text writes it. Digest computes the SHA-256 of a copy. A file
// has its own digest. A directory has the digest of a list of its files in sha256sum format. Files
// of a git commit depend on each other. They are therefore locked together, and the digest of a
// directory in git/HOST/REPOSITORY@COMMIT/ covers everything of this commit.
//
// The lock and the folder are hostile: a pull request may change both. Names are checked before
// they are used as paths. Links, devices, names outside the folder, and names that collide on a
// case-insensitive file system are errors. Files, bytes and entries are limited.
//
// Invariants: the text of a lock depends on its entries only.
//
// Non-goals: finding out what is needed, fetching it (package cmd/schedlint/vendor).
package thirdparty
