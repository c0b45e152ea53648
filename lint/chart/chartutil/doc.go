// Package chartutil computes what the templates of a Helm chart see: the values, merged
// from the chart, its dependencies and the release; which dependencies there are; and the
// capabilities of the cluster.
//
// Contract: equal to the package of this name in Helm 3.21.4 for helm template, down to
// which maps the result holds twice, because templates change maps that they are given
// and print the names of types: typeOf .Values is "chartutil.Values". Helm's package is
// not imported because it links the whole of client-go for a list of API versions.
//
// Invariants: where Helm depends on the order of a map, keys are taken in sorted order.
// The chart is changed as Helm changes it; the values of the release are not. All work is
// charged before it is done, and no value is followed deeper than MaxDepth. Warnings that
// Helm logs are dropped.
//
// Non-goals: reading charts and values files, schemas, and processing dependencies
// without keeping nulls, which helm template does not do.
package chartutil
