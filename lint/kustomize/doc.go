// Package kustomize determines which fields of manifests the kustomizations in a tree may change.
// It is for manifests that are judged as written rather than as rendered.
//
// Contract: Obscure takes all files that were read and returns their objects with only the known
// fields. A field that some kustomization may change, in a file that the kustomization reaches,
// becomes a variable such as ${kustomize}, so that nothing is reported about its value. An object
// whose fields may all change is left out. A kustomization reaches the files in its resources,
// bases and components. If such an entry is a directory, the kustomization also reaches the files
// that the directory's kustomization reaches.
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
//   - images, names and annotations affect no field that is judged.
//
// Invariants: a field that no kustomization writes keeps its value and its location. Trees are
// never modified, because changed parts are copied. The work is limited, because references are
// untrusted. If the limit is exceeded, all objects are left out.
//
// Non-goals: rendering; kustomizations that were not read.
package kustomize
