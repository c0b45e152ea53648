// Package diag holds the values that every stage speaks in when it talks to
// people: spans, levels, rules, diagnostics and the report that carries them.
//
// Contract: plain data and pure functions over it. Positions are those of the
// file: lines and columns count from 1, columns count Unicode code points, an
// end column is exclusive. Paths are slash-separated and relative to the
// repository root. Sorting happens in one place, Report.Sort, and gives one
// order for one set of diagnostics, so that equal input gives equal bytes.
//
// Non-goals: reading files, judging anything, writing any format.
package diag
