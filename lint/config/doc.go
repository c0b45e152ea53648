// Package config reads .schedlint.yaml.
//
// Contract: Find looks for the file from a directory upwards. Load reads it strictly: an unknown
// key, a value of the wrong type and a repeated key are errors with their location, and with the
// name that was probably meant. Paths in the file are relative to its directory. The caller, which
// knows the rules, checks the rule ids.
//
// A file that was found, and not named by the user of the command, is untrusted: LoadFound
// restricts it, and every file that it names, to regular files of the work tree that are reached
// without links. A key that names files checks them with loader.namedFile and reads them with
// Config.Read.
//
// The renders can only be resolved once the roots of the tree are known: Expand applies the globs
// and finds the values files of charts, and CheckClusters compares the clusters with the result.
//
// schema.json describes the same file for editors; a test keeps the two consistent.
//
// Non-goals: defaults of other packages, flags, the meaning of the settings.
package config
