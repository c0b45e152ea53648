// Package template executes the templates of package text/template/parse.
//
// Contract: a template prints the bytes that text/template prints with the option
// missingkey=zero, or fails at the node where text/template fails. Differences: methods are
// those of a table that the caller writes, since looking methods up by a name that is not
// constant makes the linker keep every exported method of the program; channels are not
// ranged over; keys of different types in one map are ordered by kind.
//
// Invariants: a panic of a function becomes an error. Every node, argument, field and
// iteration is a step that the caller counts, and recursion is bounded by Machine.MaxDepth,
// across runs that functions start. What a function costs by itself is the caller's to count.
//
// Non-goals: escaping for HTML, delimiters other than {{ and }}, parallel execution.
package template
