// Package neighbours finds the objects outside a render that selectors in the render may match.
//
// schedlint does not know which other objects are deployed together with a render. An object that
// one of the render's selectors may match therefore makes an answer unknown. Most objects in a
// repository match no selector, and judging each render together with all other objects would take
// quadratic time.
//
// Contract: New indexes objects by the labels of their pods. Index.Of takes the objects of one
// render and returns every object that a selector in the render may match. It may also return
// objects that no selector matches. The result has the order in which New received the objects.
// Objects of kinds outside the table of kinds may create pods with any label. Index.Of returns one
// such object for each kind and namespace. It omits namespaces that no term selects.
//
// Invariants: labels and selectors that become known only later (from templates or controllers)
// match anything. The cost of Index.Of is the cost of sorting its result.
//
// Non-goals: matching selectors (package sched/model); deciding what is deployed together
// (package contexts).
package neighbours
