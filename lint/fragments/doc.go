// Package fragments finds placement fields in the values that a GitOps pointer passes to an
// unavailable chart.
//
// Contract: a Finder takes an object. For a HelmRelease, an Application or an ApplicationSet, it
// returns each map in the values that has affinity, tolerations, nodeSelector or
// topologySpreadConstraints. It also returns the path of the map. Lines and columns are those of
// the object's file, even if the values are written as text. Packages workload and facts/derive
// report the problems in such a map.
//
// Invariants: only maps that a chart can pass on to pods count. A map is left out if it is turned
// off (enabled: false, replicas: 0), belongs to a complete manifest, contains variables,
// placeholders or encrypted values, or may be overridden by parameters. The Left field is then set.
// Suspended releases are ignored. A map that several aliases refer to counts once. There are limits
// on the maps, nodes and bytes of a run and on the depth of values. The Over field says which limit
// was exceeded.
//
// Non-goals: charts; values files and values in other objects; whether a chart uses a value.
package fragments
