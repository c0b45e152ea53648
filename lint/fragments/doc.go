// Package fragments finds placement fields in the values that a GitOps pointer passes to a chart
// that is not available.
//
// Contract: a Finder takes an object. For a HelmRelease, an Application or an ApplicationSet it
// returns each map of the values that has affinity, tolerations, nodeSelector or
// topologySpreadConstraints, with its path in the values. Lines and columns are those of the
// object's file, even if values are written as text. Packages workload and facts/derive report what
// is wrong in such a map.
//
// Invariants: only what a chart can put into pods counts. Left out are maps below a switch that is
// off (enabled: false, replicas: 0), within complete manifests, with variables, placeholders or
// encrypted values, and those that parameters override, as well as suspended releases; Left reports
// that something was. A map that several aliases lead to counts once. Work is bounded by the maps,
// nodes and bytes of a run and by depth; Over says which bound was exceeded.
//
// Non-goals: charts; values files and values in other objects; whether a chart uses a value.
package fragments
