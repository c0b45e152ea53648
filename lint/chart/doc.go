// Package chart renders Helm charts in the process, and says of each line of the output
// which line of a template printed it and which line of a values file set its value.
//
// Contract: Render gives what the templates of a chart print, byte for byte as Helm
// 3.21.4 does with the same chart, values and capabilities. Helm's own packages load the
// chart; what computes its values and dependencies (package chartutil), the engine, with the
// functions of Helm, and the executor of templates (package template) are ours.
//
// Invariants: no file outside Input is read, nothing is connected to or executed, and
// equal inputs give equal bytes. Functions that are random or depend on the machine give
// constants instead; lookup finds nothing, as helm template has it. A schema is not read
// from anywhere else. Everything that a chart costs is counted and bounded; an error says
// which bound was met. A place is never a guess: a place of a value counts only if the
// value there is the value in the output.
//
// Non-goals: hooks, which are annotations for the reader of the manifests; the order in
// which Helm installs objects; reading directories; repositories of charts.
package chart
