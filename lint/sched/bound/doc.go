// Package bound computes limits for one workload that has the cluster to itself: how many of its
// pods each hard rule allows (Capacity, R-M1 to R-M5), how many of its pods can be lost with one
// node or zone (TogetherOf), and how its requests compare with the nodes (RequestFits). The package
// also finds resources that are too short for several workloads together (Shortages).
//
// Invariants: a bound is never too low, so nothing feasible is reported as infeasible. Every zone
// of a pool counts at the pool's maximum size. A yes from the quick checks in fits.go is backed by
// a placement. A no is inconclusive.
//
// Non-goals: package bound does not decide whether workloads block each other; package search does.
// Bounds have no certificates.
package bound
