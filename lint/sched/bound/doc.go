// Package bound has closed forms for one workload by itself: how many of its pods each
// hard rule allows (Capacity, R-M1 to R-M5), what a single loss of a node or zone can
// take (TogetherOf), how its requests compare with the nodes (RequestFits), and which
// resources are too short for workloads together (Shortages).
//
// Invariants: a bound is never too low, so "infeasible" is never said of something that
// can work. Pools count at their max in any of their zones. A yes of the quick answers
// in fits.go is a witness; a no says nothing.
//
// Non-goals: several workloads that stand in one another's way; package search decides
// that. Bounds are not certified.
package bound
