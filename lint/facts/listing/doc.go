// Package listing prints facts for people: as a table with the place of each row, as JSON
// for other tools, as YAML, and the documentation of their fields.
//
// Contract: output is the same for the same facts, and names in manifests cannot break it:
// what is not printable is shown as escapes.
//
// Non-goals: making facts, choosing which are bad.
package listing
