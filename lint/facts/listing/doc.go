// Package listing prints facts as tables with the location of each row, as YAML, or as JSON for
// other tools. It also prints the documentation of their fields.
//
// Contract: equal facts give equal output. Unprintable characters are escaped, so names in
// manifests cannot break the output.
//
// Non-goals: building facts, deciding which rows are bad.
package listing
