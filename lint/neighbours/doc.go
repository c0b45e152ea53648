// Package neighbours finds the objects outside a render that its selectors may find.
//
// It is unknown what else is deployed beside a render, so an object that one of its selectors
// may match makes an answer unknown. Most objects of a repository match no selector, and
// reading each render beside all others would be quadratic.
//
// Contract: New indexes objects by the labels of their pods. Of returns, for the objects of one
// render, at least every object that one of their selectors may find, in the order in which New
// received them. Objects of kinds outside the table may create pods with any label; Of returns
// one of these for each kind and namespace. It omits namespaces that no term selects.
//
// Invariants: labels and selectors that become known only later (templates, labels that
// controllers set) match anything. The cost of Of is that of sorting its result.
//
// Non-goals: matching selectors (package sched/model); deciding what is deployed together
// (package contexts).
package neighbours
