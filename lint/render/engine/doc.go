// Package engine renders one kustomization in this process, with the library that
// kustomize itself consists of, or one Helm chart with package chart.
//
// Contract: Build takes a render.Root and returns a render.Output whose Text has the
// bytes that kustomize prints, but for schemas of CustomResourceDefinitions that nothing
// looks at, which are null, or a render.Problem with the file, line and column of
// the kustomization entry that is wrong. The same files give the same Output.
//
// A plan comes first: the kustomizations are read with kustomize's own types and
// followed from the root. The plan resolves every entry, refuses URLs, foreign plugins
// and functions, finds missing files and cycles, and adds up what the build will cost,
// counting a directory as often as it is included. Only then kustomize runs, on a file
// system that serves what the plan has read.
//
// Markers: in YAML that a kustomization names as a resource or strategic merge patch,
// inline patches too, each scalar on a single line is followed by a comment with the
// nonce of the run and an index. Comments follow their values through kustomize's
// merges and are not part of its output, which goes through JSON, so the text is that of
// a build without them. A comment leads from a value of the result to its place in the
// sources, and counts only if the value there is the same. Objects need no marker of
// their own: the marks of their values and their final kind and name lead to the
// document that declares them. An added annotation would change the result of JSON
// patches and replacements that touch annotations.
//
// A chart is read whole, links followed, and rendered by package chart. What its templates
// print becomes one text in the order in which Helm installs it, hooks last, without
// NOTES.txt and crds/, and each line keeps its places. If that goes through kustomize, as
// for helmCharts, it stands for a file in the build: marks lead to its lines, which lead on.
// Kustomize itself never runs Helm.
//
// Invariants: nothing outside of the root of confinement and nothing of .git is read,
// nothing is written, connected to or executed. Only regular files are opened. What the
// input says never panics. No message has a path of this machine or the password of a
// URL.
//
// Non-goals: finding roots; running several builds at the same time, as the
// schema that kustomize uses belongs to the process; limits on time and memory, which
// are the worker's.
package engine
