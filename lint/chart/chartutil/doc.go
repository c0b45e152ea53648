// Package chartutil computes the objects that the templates of a Helm chart see. These are the
// merged values of the chart, its dependencies and the release, the enabled dependencies, and the
// capabilities of the cluster.
//
// Contract: the results equal those that Helm 3.21.4's package of the same name computes for helm
// template. The results also share the same maps, because templates change maps. Even type names
// are the same, because templates print them: typeOf .Values is "chartutil.Values". Helm's package
// is not imported because it links all of client-go for a list of API versions.
//
// Invariants: this package processes keys in sorted order where Helm depends on map order. It
// changes the chart in the same way as Helm, and does not change the values of the release. All
// work is charged in advance. Values may be nested at most MaxDepth levels deep. Warnings that Helm
// would log are dropped.
//
// Non-goals: reading charts and values files; schemas; removing nulls when dependencies are
// processed, which helm template does not do.
package chartutil
