// Package bound has closed forms for one workload by itself. They compute how many of its pods each
// hard rule allows (Capacity, R-M1 to R-M5), how many pods the loss of one node or zone can hit
// (TogetherOf), and how the workload's requests compare with the nodes (RequestFits). The package
// also finds resources that are too short for several workloads together (Shortages).
//
// Invariants: a bound is never too low, so nothing feasible is reported as infeasible. Pools count
// at their maximum in any of their zones. If a quick answer in fits.go is yes, a witness supports
// it. If it is no, nothing is decided.
//
// Non-goals: package bound does not decide workloads that block each other, which package search
// does. Bounds are not certified.
package bound
