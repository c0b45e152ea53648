// Package size finds the cheapest numbers of nodes for which a question has the answer yes.
//
// Contract: Search takes pools with the least and the greatest number of nodes and the cost of one
// node, and a function that decides a layout: the number of nodes in each zone of each pool. A size
// holds if every layout that it may have does. Search returns the cheapest size that holds. Of
// several, it returns the least one, comparing pools in order.
//
// Answers are not monotone: one more node can be a new domain that a spread constraint counts. So
// nothing follows from a size about a larger or a smaller one, unless the answer says so. An answer
// no has the pools on which it depends (Answer.On): it covers every size that is equal there. If
// Answer.Below is set, it covers every size that has no more nodes there. A Bound covers the sizes
// that miss a linear minimum. Search calls a result minimal only if every cheaper size is covered
// or was decided. Otherwise it counts the others.
//
// How Search works: it climbs from the least size that meets the bounds, and adds nodes to a
// pool that may help, until a size holds, in steps that double. It then takes away nodes by bisection,
// the most expensive ones first. Last, it visits all cheaper sizes, large ones first, because an answer about
// a large size covers many smaller ones. If climbing finds nothing, it visits sizes by cost instead.
// Both are branch and bound: a part of a size that misses a bound whatever the remaining pools have
// is not completed.
//
// Invariants: decisions and visits are counted, and Search returns the best size so far when they
// run out. No answer is asked for twice. The result depends only on the arguments.
//
// Non-goals: workloads and nodes. Package lint turns layouts into topologies and asks the engine.
package size
