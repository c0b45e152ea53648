// Package diag defines the values that every stage reports with: spans, levels, rules, diagnostics
// and the report that contains them.
//
// Contract: plain data and pure functions over it. Positions are those of the file: lines and
// columns count from 1, columns count Unicode code points, an end column is exclusive. Paths are
// slash-separated and relative to the repository root. Sorting happens only in Report.Sort, which
// gives one order for one set of diagnostics, so equal input gives equal bytes.
//
// Non-goals: reading files, judging, writing formats.
package diag
