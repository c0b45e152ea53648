// Package pointers reads the objects of GitOps controllers that say what is deployed:
// Kustomizations and HelmReleases of Flux, Applications and ApplicationSets of Argo CD.
//
// Contract: a Reader takes an object and gives the pointers that it is or stands for. Each
// has sources, a source is a directory or a chart of a repository with what the
// controller does to it, or a Reason why it leads nowhere. Repositories says which of
// the repositories that pointers name is the one at hand.
//
// Invariants: documents in, pointers out: nothing is read but what Tree gives, and nothing
// outside of the repository is ever named. What is not understood has a Reason and is
// never taken for something else. A path is checked for leaving the repository before it
// is given to anybody. Work is bounded in pointers that ApplicationSets may stand for.
//
// The semantics are those of kustomize-controller (fluxcd/pkg: kustomize), helm-controller
// and argo-cd (reposerver/repository, applicationset/generators).
//
// Values of charts are written as YAML again, with the place of each line, within a limit
// for one text and one for all of a run.
//
// Non-goals: rendering; looking into a cluster.
package pointers
