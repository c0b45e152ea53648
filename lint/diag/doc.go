// Package diag defines the types that every stage uses for reporting: spans, levels, rules,
// diagnostics and the report.
//
// Contract: the package has only plain data and pure functions. Positions refer to files. Lines and
// columns start at 1. Columns count Unicode code points. End columns are exclusive. Paths are
// slash-separated and relative to the repository root. Only Report.Sort sorts diagnostics. The
// order is unique, so that equal input produces identical output.
//
// Non-goals: reading files, checking them and writing output formats.
package diag
