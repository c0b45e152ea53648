// Package origin finds where something rendered was written: the field of the
// base, the patch or the setting of a kustomization, the template of a chart.
//
// Contract: a Mapper takes a rendered object, where it says that it comes from,
// and a place in it, and gives the place in the sources that says the same; or
// the nearest one of which that can be said, marked as such; or none.
//
// Invariants: a place is never a guess. It is that of the same value by the way
// of field names and of what items of lists say; in doubt it is the name of the
// object. What tells the origin may be anybody's text: only regular files below
// the root of the repository are read, each once, as many bytes as one input may
// have in all, and work is bounded whatever refers to what.
//
// How a kustomization comes to its result is followed as far as findings need it:
// names, the namespace, patches of all three forms, replicas, labels, replacements of
// whole values and components. What images, vars, generators and transformers of other
// makes set is not looked for; such a field stays with its object. The lines of a Helm template cannot be
// told from what it renders to.
//
// Non-goals: rendering; repositories elsewhere.
package origin
