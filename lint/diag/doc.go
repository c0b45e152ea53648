// Package diag defines the values that every stage uses for reporting: spans, levels, rules,
// diagnostics and the report that contains them.
//
// Contract: plain data and pure functions on it. Positions are positions in a file. Lines and
// columns start at 1, columns count Unicode code points, and an end column is exclusive. Paths are
// slash-separated and relative to the repository root. Only Report.Sort sorts diagnostics. It puts
// a set of diagnostics in a unique order, so that equal input gives equal bytes.
//
// Non-goals: reading files, judging, writing formats.
package diag
