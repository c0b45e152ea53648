// Package engine renders one kustomization in this process, with the library that kustomize itself
// consists of, or one Helm chart with package chart.
//
// Contract: Build takes a render.Root and returns a render.Output whose Text has the bytes that
// kustomize prints, except that schemas of CustomResourceDefinitions are null if nothing reads
// them. If the build fails, it returns a render.Problem with the file, line and column of the
// faulty kustomization entry. The same files give the same Output.
//
// A plan comes first: it reads the kustomizations with kustomize's own types and follows them from
// the root. It resolves every entry, rejects URLs, foreign plugins and functions, finds missing
// files and cycles, and adds up the cost of the build, in which a directory counts as often as it
// is included. Only then kustomize runs, on a file system that serves what the plan has read.
//
// Markers: in YAML that a kustomization names as a resource or a strategic merge patch, including
// inline patches, each scalar on a single line gets a comment with the nonce of the run and an
// index. Comments follow their values through kustomize's merges. They are not part of its output,
// which goes through JSON, so the text is that of a build without them. A comment maps a value of
// the result to its place in the sources, and counts only if the value there is the same. Objects
// need no marker of their own: the marks of their values and their final kind and name lead to the
// document that declares them. An added annotation would change the result of JSON patches and
// replacements that use annotations.
//
// A chart is read completely, including links, and package chart renders it. The output of its
// templates becomes one text in the order in which Helm installs it, hooks last, without NOTES.txt
// and crds/, and each line keeps its places. If the text goes through kustomize, as for helmCharts,
// it is a virtual file in the build: marks refer to its lines, which have places in turn. Kustomize
// itself never runs Helm.
//
// Invariants: nothing outside the root of confinement and nothing in .git is read; nothing is
// written, connected to or executed. Only regular files are opened. No input causes a panic. No
// message contains a path of this machine or the password of a URL.
//
// Non-goals: finding roots; running several builds at the same time, because the schema that
// kustomize uses belongs to the process; limits on time and memory, which are the worker's.
package engine
