// Package origin finds where something rendered was written: the field of the base, the patch or
// the setting of a kustomization, the template of a chart.
//
// Contract: a Mapper takes a rendered object, its origin annotation and a place in it, and returns
// the place in the sources with the same value; or the nearest such place, marked as near; or none.
//
// Invariants: a place is never a guess. It has the same value, at the same field names and at list
// items with the same content; in doubt it is the name of the object. The text that states the
// origin is untrusted: the package reads only regular files below the root of the repository, each
// once, and no more bytes in total than one input may have. Work is bounded whatever the references
// between files.
//
// The package follows the steps of kustomize as far as findings need it: names, the namespace,
// patches of all three forms, replicas, labels, replacements of complete values, and components. It
// does not look for what images, vars, generators and third-party transformers set; such a field
// maps to its object. The lines of a Helm template cannot be derived from its output.
//
// Non-goals: rendering; repositories elsewhere.
package origin
