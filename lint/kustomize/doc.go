// Package kustomize determines which fields of manifests the kustomizations in a tree may change.
// It is for manifests that are checked without rendering.
//
// Contract: Obscure takes all files that were read and returns their objects with only the known
// fields. A field is unknown if a kustomization that reaches its file may change it. It becomes a
// variable such as ${kustomize}, so that no message is about its value. An object whose fields may
// all change is left out. A kustomization reaches the files in its resources, bases and components.
// If such an entry is a directory, the kustomization also reaches the files that the directory's
// kustomization reaches.
//
// Effects on fields:
//
//   - A patch affects the objects that it selects and the fields that it writes: the leaves of a
//     strategic-merge patch, or the paths of a JSON patch (RFC 6902). Names are ignored
//     if a prefix or suffix changes them before the patch applies.
//   - labels with includeSelectors or includeTemplates, and commonLabels, affect the
//     pods' labels and the selectors of affinity, spread and budgets; replicas affects the
//     number of pods; namespace affects the namespaces in terms.
//   - components, transformers, replacements, configurations, vars and patches that
//     cannot be read affect all fields of an object.
//   - images, names and annotations affect no field that rules read.
//
// Invariants: a field that no kustomization writes keeps its value and its location. Trees are
// never modified, because changed parts are copied. The references are untrusted, so the work is
// limited. If the limit is exceeded, all objects are left out.
//
// Non-goals: rendering; kustomizations that were not read.
package kustomize
