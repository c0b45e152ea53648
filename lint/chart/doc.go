// Package chart renders Helm charts in this process. For each line of the output it reports which
// line of a template printed it, and which line of a values file set its value.
//
// Contract: Render returns what the templates of a chart print, byte for byte like Helm 3.21.4 with
// the same chart, values and capabilities. Helm's own package loads the chart. Package chartutil
// computes its values and dependencies, the engine here provides the functions of Helm, and package
// template executes the templates.
//
// Invariants: no file outside Input is read, nothing is connected to or executed, and equal inputs
// give equal bytes. Functions that are random or depend on the machine return constants instead;
// lookup finds nothing, as in helm template. A schema is not fetched from anywhere else. The total
// cost of a chart is counted and limited; an error names the limit. A place is never a guess: the
// place of a value counts only if the value there is the value in the output.
//
// Non-goals: hooks, whose annotations are left to the reader of the manifests; the order in which
// Helm installs objects; reading directories; chart repositories.
package chart
