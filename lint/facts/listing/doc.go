// Package listing prints facts. The formats are YAML, JSON for other tools, and tables with the
// location of each row. It also prints the documentation of the fields.
//
// Contract: equal facts give equal output. Unprintable characters are escaped. Names in manifests
// therefore cannot break the output.
//
// Non-goals: building facts, deciding which rows are bad.
package listing
