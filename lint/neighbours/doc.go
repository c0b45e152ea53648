// Package neighbours finds the objects outside of a render that its selectors may find.
//
// What else is deployed beside a render is unknown, so an object that one of its selectors
// may match makes an answer unknown. Most objects of a repository match none, and reading
// each render beside all others would be quadratic.
//
// Contract: New indexes objects by the labels of their pods. Of gives, for the objects of
// one render, at least every object that a selector among them may find, in the order in
// which New got them. Objects that may make pods with any label, as their kind is not in
// the table, are among them once for each kind and namespace. Of leaves out namespaces that
// no term looks into.
//
// Invariants: labels and selectors that are not known until later (templates, labels that
// controllers set) match anything. The cost of Of is that of sorting what it gives.
//
// Non-goals: matching selectors (package sched/model); deciding what is deployed together
// (package contexts).
package neighbours
