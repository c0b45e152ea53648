// Package chart renders Helm charts in this process. For each line of the output, it reports which
// template line printed it, which call led there, which line of a values file set its value and
// which values decide whether it is printed.
//
// Contract: Render returns the output of the templates of a chart. The output has the same bytes as
// that of Helm 3.21.4 with the same chart, values and capabilities. Helm's own package loads the
// chart, and dependencies in other folders as helm dependency build packs them. Package chartutil
// computes values and dependencies. The engine in this package provides Helm's functions, and
// package template executes the templates.
//
// Invariants: no file outside Input is read, nothing is executed, and there are no network
// connections. Equal inputs give equal bytes. Functions that are random or depend on the machine
// return constants. The function lookup finds nothing, as in helm template. Schemas are never
// fetched from other files or the network. The total cost of a chart is limited, and the error
// names the limit. A position is never a guess, because the value at the position must equal the
// value in the output.
//
// Values are recognized by their addresses, because templates pass on maps, lists, strings and
// numbers without copying them. What functions such as deepCopy, merge and fromYaml make has the
// paths of what it was made from (copies.go).
//
// Non-goals: interpreting the annotations of hooks; the order in which Helm installs objects;
// reading directories; chart repositories.
package chart
