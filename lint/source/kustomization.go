package source

import "slices"

// KustomizationFiles are the names under which kustomize looks for the kustomization
// of a directory, which has one of them (kustomize: api/konfig/general.go).
func KustomizationFiles() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// IsKustomizationFile reports whether a file of this name, without directories, is
// the kustomization of its directory.
func IsKustomizationFile(base string) bool { return slices.Contains(KustomizationFiles(), base) }
