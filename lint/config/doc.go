// Package config reads .schedlint.yaml.
//
// Contract: Find looks for the file from a directory upwards; Load reads it
// strictly: an unknown key, a value of the wrong type and a repeated key are
// errors with their place, and the name that was probably meant. Paths in the
// file belong to the directory of the file. Rule ids are checked by whoever
// knows the rules.
//
// schema.json describes the same file for editors; a test keeps the two in step.
//
// Non-goals: defaults of other packages, flags, what the settings mean.
package config
