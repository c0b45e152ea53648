// Package listing prints facts as YAML, as JSON for other tools, or as tables with the location of
// each row. It also prints the documentation of the fields.
//
// Contract: equal facts give equal output. Unprintable characters are escaped, so names in
// manifests cannot break the output.
//
// Non-goals: building facts, deciding which rows are bad.
package listing
