// Package listing prints facts for people: as a table with the place of each row, as JSON for other
// tools, as YAML, and the documentation of their fields.
//
// Contract: output is the same for the same facts, and names in manifests cannot break it:
// unprintable characters are escaped.
//
// Non-goals: making facts, deciding which are bad.
package listing
