// Package pointers reads the objects that define what GitOps controllers deploy: Flux
// Kustomizations and HelmReleases, and Argo CD Applications and ApplicationSets. It also reads the
// releases in helmfiles.
//
// Contract: a Reader takes an object and returns its pointers. An ApplicationSet has one pointer
// for each Application that it generates, and a helmfile one for each release. A pointer has sources. A source is a directory or chart
// in a repository, with the settings that the controller applies. A source that cannot be rendered
// has a Reason. Repositories determines whether a repository named in a pointer is this one.
//
// Invariants: the package only turns documents into pointers. It reads nothing except what Tree
// returns. It checks every path, and never returns one outside the repository. Input that it does
// not understand gets a Reason and is never interpreted as something else. The number of pointers
// that ApplicationSets generate is limited.
//
// An ExternalArtifact of Flux consists of copies. Artifacts returns the originals.
//
// The package follows kustomize-controller (fluxcd/pkg: kustomize), helm-controller,
// source-watcher (internal/builder), argo-cd (reposerver/repository, applicationset/generators) and
// helmfile (pkg/state).
//
// The package converts chart values back to YAML, with the position of each line. The size of the
// values is limited, both for one source and for a run.
//
// Non-goals: rendering; reading from a cluster.
package pointers
