package engine

import "sigs.k8s.io/kustomize/api/types"

// fields say where a kustomization names something. The strings come from kustomize's
// own types, which take keys in any case.
var fields = []struct {
	field string
	use   use
	get   func(*types.Kustomization) []string
}{
	{"resources", asResource, func(k *types.Kustomization) []string { return k.Resources }},
	{"bases", asResource, deprecatedBases},
	{"configurations", asSetting, func(k *types.Kustomization) []string { return k.Configurations }},
	{"crds", asSchema, func(k *types.Kustomization) []string { return k.Crds }},
	{"openapi", asSetting, func(k *types.Kustomization) []string { return some(k.OpenAPI["path"]) }},
	{"configMapGenerator", asData, configMapData},
	{"secretGenerator", asData, secretData},
	{"generators", asPlugin, func(k *types.Kustomization) []string { return k.Generators }},
	{"components", asComponent, func(k *types.Kustomization) []string { return k.Components }},
	{"patchesStrategicMerge", asPatch, deprecatedMergePatches},
	{"patches", asPatch, func(k *types.Kustomization) []string { return patchPaths(k.Patches) }},
	{"patchesJson6902", asJSONPatch, deprecatedJSONPatches},
	{"replacements", asSetting, replacementPaths},
	{"transformers", asPlugin, func(k *types.Kustomization) []string { return k.Transformers }},
	{"validators", asPlugin, func(k *types.Kustomization) []string { return k.Validators }},
}

func configMapData(k *types.Kustomization) (all []string) {
	for _, g := range k.ConfigMapGenerator {
		all = append(all, generatorData(&g.GeneratorArgs)...)
	}
	return all
}

func secretData(k *types.Kustomization) (all []string) {
	for _, g := range k.SecretGenerator {
		all = append(all, generatorData(&g.GeneratorArgs)...)
	}
	return all
}

func generatorData(g *types.GeneratorArgs) (all []string) {
	all = append(all, g.FileSources...)
	all = append(all, g.EnvSources...)
	return append(all, some(g.EnvSource)...)
}

func patchPaths(patches []types.Patch) (all []string) {
	for _, p := range patches {
		all = append(all, some(p.Path)...)
	}
	return all
}

func replacementPaths(k *types.Kustomization) (all []string) {
	for _, r := range k.Replacements {
		all = append(all, some(r.Path)...)
	}
	return all
}

func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
