// Package template executes templates that package text/template/parse has parsed.
//
// Contract: a template prints the same bytes as with text/template and the option missingkey=zero,
// or fails at the same node. There are three differences. Methods come from a table that the caller
// provides, because looking up methods by names that are unknown at link time makes the linker keep
// every exported method of the program. The range action does not support channels. Map keys of
// different types are ordered by kind.
//
// Invariants: a panic in a function becomes an error. Every node, argument, field and iteration is
// reported as a step. Machine.MaxDepth limits recursion, including runs started by functions. The
// caller must charge for the work of functions.
//
// Non-goals: escaping for HTML, delimiters other than {{ and }}, parallel execution.
package template
