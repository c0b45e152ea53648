// Package source turns bytes into Kubernetes objects in which every value has its place in the
// file.
//
// Contract: Load reads files, directories and standard input and returns a Set: files, objects
// (Lists flattened), documents that were left out and why, and problems of the text itself (syntax,
// repeated keys, alias bombs, cycles, depth, links that lead out of the root). A problem in one
// document never hides another document. A document that does not parse is a problem only if
// apiVersion or kind is one of its own keys and there is no template action where YAML would have
// to understand it; any other text was never a manifest and is left out. Set.Unread lists what was
// not read at all.
//
// Limits (package limits): a file has at most 64 MiB, 100,000 documents and items of Lists, 1,000
// problems, 10,000 suppressions and 16,000,000 values, with no more than 4,000,000 or one for every
// four bytes, whichever is more; a run has at most 1 GiB, 1,000,000 documents, 10,000 problems,
// 100,000 suppressions and 32,000,000 values that are kept. A dump of 10,000 Deployments has 10,000
// documents and 1,500,000 to 4,000,000 values. Nothing is kept of a file that exceeds a limit, and
// one Problem names the limit; JSON that never mentions a key of manifests is left out as data
// instead. Within the limits, time and memory are linear.
//
// A text is UTF-8, or UTF-16 with a byte order mark, which is converted to UTF-8 immediately.
//
// Invariants: lines and columns are those of the file, because one decoder reads the whole file,
// and only a file with a syntax error is read document by document. The span of a scalar is exactly
// its text in the file. Scalars and merge keys resolve as in kubectl (YAML 1.1 as in
// sigs.k8s.io/yaml: an unquoted yes, on or 0x1f is not a string, and a merge key overrides the
// fields before it); keys keep the text of the file. Aliases are already resolved in a Node, within
// a budget, so the packages above never see a bomb or a cycle. Work is linear in the length of a
// text. Results are ordered by path, then by position, whatever the order of the arguments.
//
// Most manifests are simple YAML, which parseSimple converts to the nodes of the parser in a fifth
// of its time. It declines a text unless it knows that the text is correct and unambiguous, so the
// parser finds and words every mistake. With the parser alone, a run over 10,000 Deployments takes
// 2.7 times the CPU of the bare parse and leaves none for garbage collection; the second parser is
// the price of the memory limit of a run. FuzzSimple and tests over fixtures and corpus compare the
// two parsers.
//
// Object.Fold releases a decoded tree. The Node in its place keeps the fields that every run needs
// and reads the rest from the text of its document on demand, for instance for the place of a
// finding. It only folds a document that parseSimple has read, that is one object and that has at
// most 32 KiB, so that the cost of one value is limited; it caches a few trees that were read
// again.
//
// This is the only package that imports kyaml, and it uses only its YAML node parser: the kio
// readers split streams before parsing and so lose the line in the file. JSON text has its own
// reader, because YAML rejects some escapes that are valid in JSON; encoding/json checks that it is
// valid and decodes escapes.
//
// Rendered objects may name their source: Origin reads kustomize's annotation, Stream finds an
// object and Helm's comment above it by a place, and Trails and Follower map a value to the same
// value in another object.
//
// Non-goals: knowing any kind of workload; rewriting files.
package source
