// Package check confirms certificates by reasoning of its own. It imports the parsed
// model and the vocabulary of certificates; a test of the import graph keeps it so.
//
// Checker replays runs pod by pod (replay.go) against filters of its own (filters.go) over
// the pods in place (books.go), holds proofs against the model, each kind by a type of its
// own (proofs.go), and goes through all states again where a search was needed (states.go,
// loss.go, rollout.go). What is read off one document is shared with search through
// package model: requests, selectors, node-level filters. Domains, counting and the steps
// of controllers are not.
//
// The same filters answer people who ask why: State is pods in place, Standing what each
// node says to one more pod, with every reason (refusals.go).
//
// Errors say what does not hold, which is a fault of the search, or that the steps do
// not suffice (certificate.ErrTooLong).
package check
