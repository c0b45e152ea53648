package engine

import (
	"fmt"
	"math"

	"github.com/schedlint/schedlint/lint/render"
)

// sum is what a directory costs, with everything that it includes as often as it is
// included.
type sum struct {
	cost render.Cost
	// nodes are those of YAML, aliases expanded.
	nodes int
	// heavy are the patches of a kustomization and its components after which kustomize
	// compares each object with each.
	heavy int
	// schemas are the bytes of schemas that are left out, with so many nodes at most.
	schemas, schemaNodes int
	// references are those to variables of kustomize, or what looks like them.
	references int
}

// passedOver is how many bytes of schemas that are left out count as one.
const passedOver = 16

// steps are those of one kustomization with so many objects. The limit of a root is met by
// 2,500 objects, or 1,000 with five heavy patches. Measured with v0.21.2, whose
// time grows with the square of the objects: 2,000 objects on two levels take 5 s, 4,000
// take 40 s, and 500 objects with 100 patches that have a target 100 s.
func steps(objects, transforms, heavy int) int {
	each := plus(4, times(8, heavy))
	return plus(times(times(objects, objects), each), times(objects, times(200, transforms)))
}

func (s sum) plus(o sum) sum {
	return sum{
		render.Cost{
			Objects: plus(s.cost.Objects, o.cost.Objects),
			Bytes:   plus(s.cost.Bytes, o.cost.Bytes),
			Entries: plus(s.cost.Entries, o.cost.Entries),
			Steps:   plus(s.cost.Steps, o.cost.Steps),
		},
		plus(s.nodes, o.nodes), s.heavy, plus(s.schemas, o.schemas), plus(s.schemaNodes, o.schemaNodes), plus(s.references, o.references),
	}
}

// beyond says which limit is exceeded; "" if none is.
func (s sum) beyond(most render.Cost) string {
	for _, row := range []struct {
		has, most int
		what      string
	}{
		{s.cost.Objects, most.Objects, "objects"},
		{s.cost.Bytes, most.Bytes, "bytes"},
		{s.cost.Entries, most.Entries, "kustomization entries"},
		{s.nodes, maxNodes, "YAML nodes"},
		{s.cost.Steps, most.Steps, "steps (objects squared, per level and per patch with a target)"},
	} {
		if row.has > row.most {
			return fmt.Sprintf("the build exceeds the limit of %d %s, counting each directory as often as it is included: split the root", row.most, row.what)
		}
	}
	return ""
}

// own is what a kustomization costs without what its entries lead to.
func own(k *kustomization) sum {
	made := len(k.spec.ConfigMapGenerator) + len(k.spec.SecretGenerator)
	return sum{
		cost:  render.Cost{Objects: made, Bytes: len(k.text), Entries: made + len(k.spec.Patches)},
		nodes: k.doc.nodes,
		heavy: heavy(k),
	}
}

// heavy counts the patches that kustomize applies to a selection: it then builds the list
// of objects anew.
func heavy(k *kustomization) int {
	n := deprecatedTransforms(&k.spec) + len(k.spec.Transformers)
	for _, p := range k.spec.Patches {
		if p.Target != nil {
			n++
		}
	}
	return n
}

// untouched is how often kustomize goes through the objects of any kustomization.
const untouched = 1

// transforms is how often a kustomization goes through its objects.
func transforms(k *kustomization) int {
	s := &k.spec
	return untouched + deprecatedTransforms(s) + len(s.Patches) + len(s.Replacements) +
		len(s.Images) + len(s.Replicas) + len(s.Labels) + len(s.Transformers) + len(s.Validators)
}

// times does not overflow.
func times(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
