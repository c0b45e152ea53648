// Package pointers reads the objects of GitOps controllers that name what is deployed:
// Kustomizations and HelmReleases of Flux, Applications and ApplicationSets of Argo CD.
//
// Contract: a Reader takes an object and returns its pointers; an ApplicationSet has one for each
// Application that it generates. A pointer has sources. A source is a directory or a chart of a
// repository, with the settings that the controller applies, or a Reason why it cannot be rendered.
// Repositories determines which of the repositories that pointers name is this one.
//
// Invariants: the package turns documents into pointers. It reads only what Tree returns, and never
// returns a path outside the repository: every path is checked first. Input that it does not
// understand gets a Reason and is never interpreted as something else. The number of pointers that
// ApplicationSets generate is limited.
//
// The semantics are those of kustomize-controller (fluxcd/pkg: kustomize), helm-controller and
// argo-cd (reposerver/repository, applicationset/generators).
//
// Values of charts are written as YAML again, with the place of each line. Limits apply to each
// text and to all texts of a run.
//
// Non-goals: rendering; reading from a cluster.
package pointers
