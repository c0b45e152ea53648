// Package engine renders one root in this process: a kustomization with the kustomize library, or
// a Helm chart with package chart.
//
// Contract: Build takes a render.Root and returns a render.Output. Its Text is exactly what
// kustomize prints, except that schemas of CustomResourceDefinitions are null if nothing reads
// them. If the build fails, Output.Problem has the file, line and column of the faulty
// kustomization entry. The same files give the same Output.
//
// Build first makes a plan. It reads the kustomizations with kustomize's own types and follows them
// from the root. It resolves every entry, rejects URLs, foreign plugins and functions, finds
// missing files and cycles, and adds up the cost of the build. A directory that is included twice
// counts twice. Only then does kustomize run, on a file system that serves the files that the plan
// has read.
//
// Markers: before kustomize reads the YAML, markers are added to inline patches and to the files
// that a kustomization names as resources or strategic merge patches. A marker is a comment after a
// scalar on a single line, with the nonce of the run and an index. Comments follow their values
// through kustomize's merges. They do not reach the printed text, because kustomize converts
// objects to JSON before it prints them. The text is therefore the same as without markers. A
// marker maps a value of the result to its position in the sources, and counts only if both values
// are the same. Objects themselves need no markers. The marks of an object's values, together with
// its final kind and name, lead to the document that declares it. An extra annotation would change
// the result of JSON patches and replacements that use annotations.
//
// Build reads a chart completely, including links, and package chart renders it. The output of its
// templates, without NOTES.txt and crds/, becomes one text in Helm's install order, with hooks
// last. The origin of each line is kept. If kustomize processes the text further, as for
// helmCharts, the build sees it as a virtual file. Marks then refer to the lines of that file, and
// the lines lead to the templates. Kustomize itself never runs Helm.
//
// Invariants: nothing outside the confinement directory is read, and nothing in .git. Nothing is
// written or executed, and there are no network connections. Only regular files are opened. No
// input causes a panic. No message contains a path of this machine or the password of a URL.
//
// Non-goals: finding roots; running several builds at the same time, because kustomize's schema is
// global to the process; limiting time and memory, which the worker does.
package engine
