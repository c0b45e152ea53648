// Package source parses files into Kubernetes objects in which every value has its position in the
// file.
//
// Contract: Load reads files, directories and standard input and returns a Set. The Set holds the
// files, the objects, and the documents that were left out, with reasons. The items of Lists are
// separate objects. The Set also holds problems such as syntax errors, repeated keys, alias bombs,
// cycles, deep nesting and links that lead out of the root. A problem in one document never hides
// another document. A document that does not parse is a problem if apiVersion or kind is one of its
// top-level keys. Templates and all other documents that do not parse are left out. Set.Unread
// lists everything that was not read at all.
//
// Limits (package limits): a file has at most 64 MiB, 100,000 documents and items of Lists, 1,000
// problems, 10,000 suppressions and 16,000,000 values. A short file may have only 4,000,000 values
// or one for every four bytes, whichever is more. A run has at most 1 GiB, 1,000,000 documents,
// 10,000 problems, 100,000 suppressions and 32,000,000 values kept in memory. For comparison, a
// dump of 10,000 Deployments has 10,000 documents and 1,500,000 to 4,000,000 values. A file that
// exceeds a limit is dropped entirely, and one Problem names the limit. An oversized JSON file
// without any manifest key is left out as data instead. Within the limits, time and memory are
// linear.
//
// Files are UTF-8, or UTF-16 with a byte order mark, which is converted to UTF-8 immediately.
//
// Invariants: lines and columns are those of the file, because a single decoder reads the whole
// file. Only a file with a syntax error is parsed document by document. The span of a scalar is
// exactly its text in the file. Scalars and merge keys resolve as in kubectl (YAML 1.1 as in
// sigs.k8s.io/yaml: an unquoted yes, on or 0x1f is not a string, and a merge key overrides the
// fields before it). Keys are not normalized. Aliases are already resolved, up to a limit, so other
// packages never see an alias bomb or a cycle. The work is linear in the length of the text.
// Results are ordered by path and then by position, regardless of the order of the arguments.
//
// Most manifests are simple YAML. For simple YAML, parseSimple returns the same nodes as the YAML
// library in a fifth of the time. It accepts only text that is certainly correct and unambiguous,
// so the library reports all mistakes. Without parseSimple, a run over 10,000 Deployments could not
// stay within its memory limit, because parsing would leave no time for garbage collection.
// FuzzSimple and tests with fixtures and the corpus compare the two parsers.
//
// Object.Fold replaces the tree of an object with a smaller one, which keeps only the fields that
// every run needs. When other fields are needed, for instance to locate a finding, the text of the
// document is parsed again. A document is folded only if it is a single object of at most 32 KiB
// that parseSimple can parse. The size limits the cost of looking up one value. A few reparsed
// trees are cached.
//
// This is the only package that imports kyaml. It uses only kyaml's YAML node parser, because the
// kio readers split streams before parsing and therefore lose the line numbers. JSON has its own
// reader, because YAML rejects some escapes that are valid in JSON. That reader uses encoding/json
// to validate the text and to decode escapes.
//
// Rendered objects may name their source. Origin reads kustomize's annotation. Stream finds an
// object by position, along with Helm's comment above it. Trails and Follower find the value in
// another object that corresponds to a given value.
//
// Non-goals: knowing the kinds of workloads, and rewriting files.
package source
