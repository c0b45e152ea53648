// Package bound has closed forms for one workload by itself: how many of its pods each
// hard rule allows (Capacity, R-M1 to R-M5), how many pods a single loss of a node or zone
// can hit (TogetherOf), and how its requests compare with the nodes (RequestFits). It also
// finds resources that are too short for several workloads together (Shortages).
//
// Invariants: a bound is never too low, so nothing feasible is reported as infeasible.
// Pools count at their maximum in any of their zones. A yes of the quick answers
// in fits.go is backed by a witness; a no decides nothing.
//
// Non-goals: it does not decide about workloads that block each other, which package search
// does. Bounds are not certified.
package bound
