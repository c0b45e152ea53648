// Package check confirms certificates independently of the code that found them. It imports only
// the parsed model and the certificate vocabulary, which an import graph test enforces.
//
// Checker replays runs pod by pod (checker.go). It applies its own filters (filters.go) to each
// pod, given the pods already in place (books.go). It checks proofs against the model, with one
// type for each kind of proof. Where search explored all states, Checker explores them again
// (states.go, loss.go, rollout.go). Where search counts that a node always stays open, Checker counts
// in its own way (open_nodes.go). Checker and search both use package model for everything that
// follows from a single document, namely requests, selectors and node-level filters. They do not
// share code for domains, counting or controller steps.
//
// The same filters explain refusals to users. State holds the pods in place, and Placement
// returns each node's answer to one more pod, with all reasons (refusals.go).
//
// An error either describes a false claim, which is a bug in the search, or reports that there
// were not enough steps (certificate.ErrTooLong).
package check
