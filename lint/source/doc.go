// Package source turns bytes into Kubernetes objects whose every value knows
// its place in the file.
//
// Contract: Load reads files, directories and standard input and gives one Set:
// files, objects (Lists flattened), documents that were left out and why, and
// problems of the text itself (syntax, repeated keys, alias bombs, cycles,
// depth, links that lead out of the root). A problem in one document never
// hides another document. A document that does not parse is a problem only if
// apiVersion or kind is one of its own keys and no template action stands where
// YAML would have to understand it; the rest was never a manifest and is left out.
// What is not even read is in Set.Unread.
//
// Bounds (package limits): a file has at most 64 MiB, 100,000 documents and items of
// Lists, 1,000 problems, 10,000 suppressions and 16,000,000 values, with no more than
// 4,000,000 or one for every four bytes, whichever is more; a run 1 GiB, 1,000,000
// documents, 10,000 problems, 100,000 suppressions and 32,000,000 values that are kept. A dump of 10,000 Deployments has
// 10,000 documents and 1,500,000 to 4,000,000 values. Beyond a bound nothing of a
// file is kept, and one Problem says which it was; JSON that never mentions a key of
// manifests is left out as data. Below it time and memory are linear.
//
// A text is UTF-8, or UTF-16 with a byte order mark, which becomes UTF-8 at once.
//
// Invariants: lines and columns are those of the file, as the whole file runs
// through one decoder, and only one with a syntax error is read document by
// document. The span of a scalar is its text in the file, no more and no less.
// Scalars and merge keys resolve as kubectl resolves them (YAML 1.1 as in
// sigs.k8s.io/yaml: an unquoted yes, on or 0x1f is not a string, and a merge key
// overrides what stands before it); keys keep the text of the file. Aliases are
// already resolved in a Node, within a budget, so nothing above this package can
// meet a bomb or a cycle. Work is linear in the length of a text. Order is by
// path, then by position, whatever the order of the arguments.
//
// Most manifests are simple YAML, which parseSimple reads into the nodes of the parser
// in a fifth of its time. It declines a text that it does not know to be correct and
// to mean one thing, so every mistake is found and worded by the parser. With the
// parser alone a run over 10,000 Deployments takes 2.7 times the CPU of the bare parse
// and leaves none for collecting garbage; a second parser is the price of the memory
// that a run may take. FuzzSimple and tests over fixtures and corpus hold the two
// against each other.
//
// Object.Fold lets go of a tree that was decoded. The Node in its place keeps what
// every run asks for and reads the rest from the text of its document when something
// asks, as a finding does for its place. Only a document that parseSimple has read, that
// is one object and that has at most 32 KiB is let go, so that asking for one value
// costs a bounded number of steps; a few trees that were read again are kept at hand.
//
// This is the only package that imports kyaml, of which it uses the YAML node
// parser alone: the kio readers split streams before parsing and so lose the
// line in the file. JSON text has a reader of its own, because YAML rejects some
// escapes that are legal JSON; encoding/json says what is valid and reads escapes.
//
// What was rendered may say where it comes from: Origin reads kustomize's
// annotation, Stream finds an object and Helm's comment above it by a place, and
// Trails and Follower lead from a value to the same one in another object.
//
// Non-goals: knowing any kind of workload; rewriting files.
package source
