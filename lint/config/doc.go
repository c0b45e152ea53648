// Package config reads .schedlint.yaml.
//
// Contract: Find looks for the file in a directory and its parents. Load reads it strictly: an
// unknown key, a value of the wrong type and a repeated key are errors with their location, and
// with the name that was probably meant. Paths in the file are relative to its directory. Load does
// not check rule ids. Its caller does, because only the caller knows the rules.
//
// A configuration that was found, rather than named by the user of the command, is untrusted.
// LoadFound requires the configuration and every file that it names to be regular files in the work
// tree, reachable without links. A key that names files must check them with loader.namedFile and
// read them with Config.Read.
//
// Renders can only be resolved once the roots of the tree are known. Expand then applies the globs
// and finds the values files of charts, and CheckClusters compares the clusters with the result.
//
// schema.json describes the same file for editors. A test keeps the two consistent.
//
// Non-goals: defaults of other packages, flags, the meaning of the settings.
package config
