// Package check confirms certificates independently of the code that found them. It imports only
// the parsed model and the vocabulary of certificates. A test of the import graph enforces this.
//
// Checker replays runs pod by pod (checker.go). For each pod it applies its own filters
// (filters.go) to the pods in place (books.go). It checks proofs against the model, with one type
// for each kind of proof, and explores all states again where search did so
// (states.go, loss.go, rollout.go). Through package model it shares with search everything that
// follows from a single document: requests, selectors and node-level filters. It does not
// share domains, counting or the steps of controllers.
//
// The same filters explain refusals to users. State holds the pods in place, and
// Placement returns each node's answer to one more pod, with all reasons
// (refusals.go).
//
// An error either describes a claim that does not hold, which is a bug in the search, or reports
// that the steps do not suffice (certificate.ErrTooLong).
package check
