package build

//lint:file-ignore SA1019 kustomize still reads these fields, and people still write them.

import "sigs.k8s.io/kustomize/api/types"

func deprecatedBases(k *types.Kustomization) []string { return k.Bases }

func deprecatedJSONPatches(k *types.Kustomization) []string { return patchPaths(k.PatchesJson6902) }

func deprecatedMergePatches(k *types.Kustomization) (all []string) {
	for _, p := range k.PatchesStrategicMerge {
		all = append(all, string(p))
	}
	return all
}

func deprecatedTransforms(k *types.Kustomization) int {
	return len(k.PatchesStrategicMerge) + len(k.PatchesJson6902) + len(k.ImageTags) + len(k.Vars)
}
