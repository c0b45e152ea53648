// Package origin finds where rendered text was written. This is the field of a base, a patch or
// setting of a kustomization, or the template of a chart.
//
// Contract: a Mapper takes a rendered object, its origin annotation and a span in the object. It
// returns the position in the sources that has the same value. If there is no such position, it
// returns a surrounding one marked as near, or none.
//
// Invariants: a position is never a guess. It has the same value and is reached by the same field
// names and, in lists, through items with the same content. When in doubt, the Mapper returns the
// position of the object's name. The origin annotation is untrusted, so the package reads only
// regular files below the root of the repository. It reads each file once, and no more bytes in
// total than the limit for one input. The work is limited, regardless of the references between
// files.
//
// The package follows the steps of kustomize that findings depend on: names, the namespace, all
// three forms of patches, replicas, labels, replacements of complete values, and components. It
// does not follow images, vars, generators and third-party transformers. For a field that one of
// these sets, the result is the position of the object's name. The lines of a Helm template cannot
// be derived from its output.
//
// Non-goals: rendering; other repositories.
package origin
