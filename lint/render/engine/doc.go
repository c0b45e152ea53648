// Package engine renders one root in this process: a kustomization with the kustomize library, or
// a Helm chart with package chart.
//
// Contract: Build takes a render.Root and returns a render.Output. Its Text is exactly what
// kustomize prints, with one exception. Schemas of CustomResourceDefinitions are null if nothing
// reads them. If the build fails, Output.Problem has the file, line and column of the faulty
// kustomization entry. The same files give the same Output.
//
// Build first makes a plan. It reads the kustomizations with kustomize's own types, starting at the
// root. It resolves every entry, rejects URLs, foreign plugins and functions, finds missing files
// and cycles, and adds up the cost of the build. A directory that is included twice counts twice.
// Then kustomize runs on a file system that serves only the files in the plan.
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
// Build reads a chart completely, including links, and package chart renders it. The output of the
// templates becomes one text in Helm's install order, with hooks last. NOTES.txt and crds/ are left
// out. The origin of each line is kept. Kustomize may process the text further, as for helmCharts.
// Then the text is a virtual file in the build. Marks refer to the lines of this file, and the
// lines refer to the templates. Kustomize itself never runs Helm.
//
// The files of an artifact are virtual as well. They have names below a virtual directory, which only
// Root.Artifact lists, and the contents of their originals. Build uses these names. At the end, the
// Output gets those of the originals. Messages keep the names in the artifact.
//
// Invariants: nothing outside the confinement directory is read, and nothing in .git. Nothing is
// written or executed, and there are no network connections. Only regular files are opened. No
// input causes a panic. No message contains a path of this machine or the password of a URL.
//
// Non-goals: finding roots; running several builds at the same time, because kustomize's schema is
// global to the process; limiting time and memory, which the worker does.
package engine
