// Package kustomize tells which fields of manifests the kustomizations of a tree
// change, for manifests that are read as they are and not rendered.
//
// Contract: Obscure takes everything that was read and gives the objects as far as
// they are known: a field that some kustomization may change in a file that it
// reaches is a variable in them, as ${kustomize}, so that nothing is said of its
// value; an object of which anything may change is left out. A kustomization
// reaches the files of its resources, and those of the directories that it names.
//
// What concerns which field:
//
//   - A patch concerns the objects that it selects and the fields that it writes: a
//     strategic-merge patch its leaves, a JSON patch (RFC 6902) its paths. Names are
//     compared loosely where a prefix or suffix changes them on the way.
//   - labels with includeSelectors or includeTemplates and commonLabels concern the
//     pods' labels and the selectors of affinity, spread and budgets; replicas the
//     number of pods; namespace the namespaces that terms name.
//   - components, transformers, replacements, configurations, vars and patches that
//     cannot be read concern all of an object.
//   - images, names and annotations concern nothing that is judged.
//
// Invariants: a field that is not written by any kustomization stays as it is, with
// its place. Trees are not changed: what differs is copied. Work is bounded: what
// refers to what is anybody's, and beyond the bound everything that could still be
// reached is left out.
//
// Non-goals: rendering; kustomizations that were not read.
package kustomize
