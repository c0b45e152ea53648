// Package source parses files into Kubernetes objects in which every value has its position in the
// file.
//
// Contract: Load reads files, directories and standard input and returns a Set. The Set holds the
// files, the objects (Lists are flattened), the documents that were left out with the reasons, and
// problems such as syntax errors, repeated keys, alias bombs, cycles, deep nesting and links that
// lead out of the root. A problem in one document never hides another document. A document that
// does not parse is a problem only if apiVersion or kind is one of its top-level keys and there is
// no template action where YAML would have to interpret it. Any other such document was never a
// manifest and is left out. Set.Unread lists everything that was not read at all.
//
// Limits (package limits): a file has at most 64 MiB, 100,000 documents and items of Lists, 1,000
// problems, 10,000 suppressions and 16,000,000 values. Its values are also limited to 4,000,000 or
// one for every four bytes, whichever is more. A run has at most 1 GiB, 1,000,000 documents, 10,000
// problems, 100,000 suppressions and 32,000,000 values kept in memory. For comparison, a dump of
// 10,000 Deployments has 10,000 documents and 1,500,000 to 4,000,000 values. A file that exceeds a
// limit is dropped entirely, and one Problem names the limit. JSON that never mentions a manifest
// key is left out as data instead. Within the limits, time and memory are linear.
//
// Files are UTF-8, or UTF-16 with a byte order mark, which is converted to UTF-8 immediately.
//
// Invariants: lines and columns are those of the file, because one decoder reads the whole file;
// only a file with a syntax error is parsed document by document. The span of a scalar is exactly
// its text in the file. Scalars and merge keys resolve as in kubectl (YAML 1.1 as in
// sigs.k8s.io/yaml: an unquoted yes, on or 0x1f is not a string, and a merge key overrides the
// fields before it). Keys are not normalized. Aliases in a Node are already resolved, within a
// budget, so importing packages never see a bomb or a cycle. Work is linear in the length of the
// text. Results are ordered by path and then by position, whatever the order of the arguments.
//
// Most manifests are simple YAML, which parseSimple converts to parser nodes in a fifth of the
// parser's time. It gives up unless it is certain that the text is correct and unambiguous, so
// every mistake is found and worded by the parser. With the parser alone, a run over 10,000
// Deployments takes 2.7 times the CPU of parsing alone and leaves none for garbage collection; the
// memory limit of a run would not be affordable without the second parser. FuzzSimple and tests
// over fixtures and the corpus compare the two parsers.
//
// Object.Fold releases the tree of an object. The Node in its place keeps the fields that every run
// needs, and parses the text of its document again for the rest, for instance to locate a finding.
// A document is folded only if it was parsed by parseSimple, is a single object and is at most 32
// KiB long, which limits the cost of looking up one value. A few reparsed trees are cached.
//
// This is the only package that imports kyaml, and it uses only kyaml's YAML node parser: the kio
// readers split streams before parsing and so lose the line numbers. JSON has its own reader,
// because YAML rejects some escapes that are valid in JSON; encoding/json validates the text and
// decodes escapes.
//
// Rendered objects may name their source. Origin reads kustomize's annotation. Stream finds an
// object, and Helm's comment above it, by position. Trails and Follower map a value to the same
// value in another object.
//
// Non-goals: knowledge of workload kinds; rewriting files.
package source
