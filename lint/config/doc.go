// Package config reads .schedlint.yaml.
//
// Contract: Find looks for the file from a directory upwards; Load reads it
// strictly: an unknown key, a value of the wrong type and a repeated key are
// errors with their place, and the name that was probably meant. Paths in the
// file belong to the directory of the file. Rule ids are checked by whoever
// knows the rules.
//
// A file that was found, and not named by whoever runs the command, may be anybody's:
// LoadFound holds it, and every file that it names, to regular files of the work tree
// that are reached without links. A key that names files checks them with
// loader.namedFile and reads them with Config.Read.
//
// What renders asks for is known once the roots of the tree are: Expand applies its
// globs and finds the values files of charts, CheckClusters holds clusters against the result.
//
// schema.json describes the same file for editors; a test keeps the two in step.
//
// Non-goals: defaults of other packages, flags, what the settings mean.
package config
