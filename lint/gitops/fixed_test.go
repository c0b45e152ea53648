package gitops

import (
	"slices"
	"strings"
	"testing"
)

// TestFixed checks that a commit or a version of this repository counts as fixed, and that a branch
// does not.
func TestFixed(t *testing.T) {
	hash := strings.Repeat("0a", 20)
	for revision, want := range map[string][]string{
		hash: {hash}, "v1.2.0": {"v1.2.0"}, "1.2.3-rc.1": {"1.2.3-rc.1"}, "~1.2": {"~1.2"}, ">=1.0.0 <2.0.0": {">=1.0.0 <2.0.0"},
		"main": nil, "HEAD": nil, "release-1.2": nil, "0a0a0a0": nil, "": nil,
	} {
		r := followed(t, shop+"-- a.yaml --\n"+application("    path: charts/shop\n    targetRevision: '"+revision+"'\n"), nil)
		if len(r.Deployments) != 1 || !slices.Equal(r.Fixed, want) {
			t.Errorf("%s: %q, want %q", revision, r.Fixed, want)
		}
	}
	r := followed(t, "-- a.yaml --\n"+pointer("a", "app", "  sourceRef: {kind: GitRepository, name: r}\n")+"-- app/c.yaml --\n"+config+
		"-- r.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: r}\nspec: {url: 'https://h/o/r', ref: {branch: main, tag: v2.0.0}}\n", nil)
	if !slices.Equal(r.Fixed, []string{"v2.0.0"}) {
		t.Errorf("%q", r.Fixed)
	}
}
