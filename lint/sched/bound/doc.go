// Package bound computes limits for one workload that has the cluster to itself:
//   - Capacity: how many of its pods each hard rule allows (R-M1 to R-M5);
//   - TogetherOf: how many of its pods can be lost with one node or zone;
//   - RequestFits: how its requests compare with the nodes.
//
// Shortages finds resources that are too short for several workloads together.
//
// Invariants: a bound is never too low, so nothing feasible is reported as infeasible. Every zone
// of a pool counts at the pool's maximum size. If a quick check in fits.go answers yes, a placement
// exists. If it answers no, there may still be one.
//
// Non-goals: package search decides whether workloads block each other. Bounds have no
// certificates.
package bound
