// Package config reads .schedlint.yaml.
//
// Contract: Find looks for the file in a directory and its parents. Load reads it strictly: unknown
// keys, values of the wrong type and repeated keys are errors. Each error gives its location and,
// for an unknown key, the name that was probably meant. Paths in the file are relative to its
// directory. Load does not check rule ids, because only its caller knows the rules.
//
// A configuration that was found, rather than named by the user, is untrusted. LoadFound accepts
// only regular files in the work tree that can be reached without links. This applies to the
// configuration and to every file that it names. Code for a key that names files must check these
// files with loader.namedFile and read them with Config.Read.
//
// Renders can only be resolved once the roots of the tree are known. Expand then applies the globs
// and finds the values files of charts. CheckClusters checks that the clusters refer only to
// existing renders.
//
// schema.json describes the same file for editors. A test keeps the schema consistent with this
// package.
//
// Non-goals: flags, the defaults of other packages, and the meaning of the settings.
package config
