// Package check confirms certificates by its own reasoning. It imports the parsed model
// and the vocabulary of certificates; a test of the import graph keeps it so.
//
// Checker replays runs pod by pod (replay.go) against its own filters (filters.go) over
// the pods in place (pod_index.go). It checks proofs against the model, each kind by a type
// of its own (proofs.go), and explores all states again where a search was needed
// (states.go, loss.go, rollout.go). It shares with search, through package model, what
// can be read off one document: requests, selectors, node-level filters. It does not
// share domains, counting and the steps of controllers.
//
// The same filters explain refusals to people: State holds the pods in place, and
// Placement returns the answer of each node to one more pod, with every reason
// (refusals.go).
//
// An error says what does not hold, which is a fault of the search, or that the steps do
// not suffice (certificate.ErrTooLong).
package check
