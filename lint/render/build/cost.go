package build

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
	// steps are transformations of objects.
	steps int
}

// maxSteps bounds the transformations of objects in a build: 10,000 objects under ten
// levels of kustomizations, or 1,000 objects with 500 patches.
const maxSteps = 1_000_000

func (s sum) plus(o sum) sum {
	return sum{
		render.Cost{
			Objects: plus(s.cost.Objects, o.cost.Objects),
			Bytes:   plus(s.cost.Bytes, o.cost.Bytes),
			Entries: plus(s.cost.Entries, o.cost.Entries),
		},
		plus(s.nodes, o.nodes), plus(s.steps, o.steps),
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
		{s.cost.Entries, most.Entries, "entries of kustomizations"},
		{s.nodes, maxNodes, "YAML nodes"},
		{s.steps, maxSteps, "transformations of objects"},
	} {
		if row.has > row.most {
			return fmt.Sprintf("the build exceeds the limit of %d %s, counting a directory each time it is included: split the root", row.most, row.what)
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
	}
}

// untouched is how often kustomize goes through the objects of any kustomization.
const untouched = 10

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
