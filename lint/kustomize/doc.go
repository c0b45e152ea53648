// Package kustomize determines which fields of manifests the kustomizations of a tree change, for
// manifests that are read as they are and not rendered.
//
// Contract: Obscure takes everything that was read and returns the objects as far as they are
// known. A field that some kustomization may change, in a file that it reaches, becomes a variable
// such as ${kustomize}, so that nothing is reported about its value. An object that may change
// anywhere is left out. A kustomization reaches the files of its resources, and those of the
// directories that it names.
//
// Effects on fields:
//
//   - A patch affects the objects that it selects and the fields that it writes: a
//     strategic-merge patch its leaves, a JSON patch (RFC 6902) its paths. Names are
//     compared loosely if a prefix or suffix changes them before the patch applies.
//   - labels with includeSelectors or includeTemplates and commonLabels affect the
//     pods' labels and the selectors of affinity, spread and budgets; replicas the
//     number of pods; namespace the namespaces that terms name.
//   - components, transformers, replacements, configurations, vars and patches that
//     cannot be read affect all fields of an object.
//   - images, names and annotations affect nothing that is judged.
//
// Invariants: a field that no kustomization writes stays as it is, with its place. Trees are not
// changed: what differs is copied. Work is bounded, as references are untrusted; beyond the bound,
// all objects that could still be reached are left out.
//
// Non-goals: rendering; kustomizations that were not read.
package kustomize
