package engine

//lint:file-ignore SA1019 kustomize still reads these fields, and people still write them.

import (
	"slices"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/schedlint/schedlint/lint/lists"
)

func deprecatedBases(k *types.Kustomization) []string { return k.Bases }

func deprecatedJSONPatches(k *types.Kustomization) []string { return patchPaths(k.PatchesJson6902) }

// deprecatedPatches returns the patches in the fields patches and patchesJson6902. Patches in other
// fields cannot have a target.
func deprecatedPatches(k *types.Kustomization) []types.Patch {
	return slices.Concat(k.Patches, k.PatchesJson6902)
}

func deprecatedVars(k *types.Kustomization) []types.Var { return k.Vars }

// commonPairs returns the labels and annotations that kustomize adds to all objects or to all
// generated objects.
func commonPairs(k *types.Kustomization) []map[string]string {
	all := []map[string]string{k.CommonLabels, k.CommonAnnotations}
	for _, l := range k.Labels {
		all = append(all, l.Pairs)
	}
	if o := k.GeneratorOptions; o != nil {
		all = append(all, o.Labels, o.Annotations)
	}
	return all
}

func deprecatedMergePatches(k *types.Kustomization) []string {
	return lists.Of(k.PatchesStrategicMerge, func(p types.PatchStrategicMerge) string { return string(p) })
}

func deprecatedTransforms(k *types.Kustomization) int {
	return len(k.PatchesStrategicMerge) + len(k.PatchesJson6902) + len(k.ImageTags) + len(k.Vars)
}

func deprecatedCharts(k *types.Kustomization) []types.HelmChartArgs {
	return k.HelmChartInflationGenerator
}

// eachInlinePatch calls a function with the text of each inline patch, and replaces the text with
// the result.
func eachInlinePatch(k *types.Kustomization, with func(string) string) {
	for i, p := range k.PatchesStrategicMerge {
		k.PatchesStrategicMerge[i] = types.PatchStrategicMerge(with(string(p)))
	}
	for i := range k.Patches {
		k.Patches[i].Patch = with(k.Patches[i].Patch)
	}
}
