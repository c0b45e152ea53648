// Package fragments finds placement fields in the values that a GitOps pointer gives a
// chart which is not at hand.
//
// Contract: a Finder takes an object. Of a HelmRelease, an Application or an ApplicationSet
// it gives each map of the values that has affinity, tolerations, nodeSelector or
// topologySpreadConstraints, with the path that leads there from the values. Lines and
// columns are those of the object's file, also where values are written as text. What is
// wrong in such a map is for packages workload and facts/build to say.
//
// Invariants: only what a chart can put into pods counts. Maps below a switch that is off
// (enabled: false, replicas: 0), within whole manifests, with variables, placeholders or
// encrypted values, and those that parameters override are left out, and so are
// suspended releases; Left tells that something was. A map that several aliases lead to
// counts once. Work is bounded in maps, nodes and bytes of a run and in depth; Over says
// which bound was met.
//
// Non-goals: charts; values files and values in other objects; whether a chart uses a value.
package fragments
