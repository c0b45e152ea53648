// Package template executes the templates of package text/template/parse.
//
// Contract: a template prints the same bytes as text/template with the option missingkey=zero, or
// fails at the same node as text/template. Differences: methods come from a table that the caller
// writes, because looking up methods by a variable name makes the linker keep every exported method
// of the program; range does not support channels; keys of different types in one map are ordered
// by kind.
//
// Invariants: a panic of a function becomes an error. Every node, argument, field and iteration is
// a step that the caller counts, and Machine.MaxDepth limits recursion, including runs that
// functions start. The caller counts the cost of functions themselves.
//
// Non-goals: escaping for HTML, delimiters other than {{ and }}, parallel execution.
package template
