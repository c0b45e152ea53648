package pointers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestArtifacts checks which files an artifact contains, in the cases of the controller
// (source-watcher: internal/builder).
func TestArtifacts(t *testing.T) {
	files := []string{"README.md", "apps-x/a.yaml", "apps/a.yaml", "apps/base/b.yaml", "apps/base/deep/c.yaml", "apps/base/deep/n.md", "apps/prod/b.yaml", "values.yaml"}
	for _, c := range []struct{ copies, want string }{
		{"{from: '@r/apps/**', to: '@artifact/'}", "a.yaml=apps/a.yaml base/b.yaml=apps/base/b.yaml base/deep/c.yaml=apps/base/deep/c.yaml base/deep/n.md=apps/base/deep/n.md prod/b.yaml=apps/prod/b.yaml"},
		{"{from: '@r/apps/base/', to: '@artifact/x/'}", "x/base/b.yaml=apps/base/b.yaml x/base/deep/c.yaml=apps/base/deep/c.yaml x/base/deep/n.md=apps/base/deep/n.md"},
		{"{from: '@r/apps/base', to: '@artifact/x'}", "x/base/b.yaml=apps/base/b.yaml x/base/deep/c.yaml=apps/base/deep/c.yaml x/base/deep/n.md=apps/base/deep/n.md"},
		{"{from: '@r/apps/*.yaml', to: '@artifact/x/'}", "x/apps/a.yaml=apps/a.yaml"},
		{"{from: '@r/apps/p*', to: '@artifact/'}", "apps/prod/b.yaml=apps/prod/b.yaml"},
		{"{from: '@r/*/base/**', to: '@artifact/', exclude: ['*.md']}", "apps/base/b.yaml=apps/base/b.yaml apps/base/deep/c.yaml=apps/base/deep/c.yaml"},
		{"{from: '@r/apps/a.yaml', to: '@artifact/x'}", "x=apps/a.yaml"},
		{"{from: '@r/apps/a.yaml', to: '@artifact/x/'}", "x/a.yaml=apps/a.yaml"},
		{"{from: '@r/apps/a.yaml', to: '@artifact/'}", "a.yaml=apps/a.yaml"},
		{"{from: '@r/apps/prod/', to: '@artifact/'}, {from: '@r/apps/a.yaml', to: '@artifact/prod'}", "prod/a.yaml=apps/a.yaml prod/b.yaml=apps/prod/b.yaml"},
		{"{from: '@r/', to: '@artifact/x', exclude: ['apps*/**', '*.md']}", "x/values.yaml=values.yaml"},
		{"{from: '@r/apps/base/**', to: '@artifact/', exclude: ['deep/**']}", "b.yaml=apps/base/b.yaml"},
		{"{from: '@r/apps/base/**', to: '@artifact/', exclude: [deep]}", "b.yaml=apps/base/b.yaml"},
		{"{from: '@r/apps/base/**', to: '@artifact/', exclude: ['**/*.md']}", "b.yaml=apps/base/b.yaml deep/c.yaml=apps/base/deep/c.yaml"},
		{"{from: '@r/apps/base/**', to: '@artifact/'}, {from: '@r/apps/prod/**', to: '@artifact/'}", "b.yaml=apps/prod/b.yaml deep/c.yaml=apps/base/deep/c.yaml deep/n.md=apps/base/deep/n.md"},
		{"{from: '@r/apps/a.yaml', to: '@artifact/v'}, {from: '@r/values.yaml', to: '@artifact/v', strategy: Merge}, {from: '@r/apps/prod/b.yaml', to: '@artifact/v', strategy: Merge}", "v=apps/a.yaml+values.yaml+apps/prod/b.yaml"},
		{"{from: '@r/apps/a.yaml', to: '@artifact/v'}, {from: '@r/values.yaml', to: '@artifact/v', strategy: Merge}, {from: '@r/apps/prod/b.yaml', to: '@artifact/v'}", "v=apps/prod/b.yaml"},
		{"{from: '@r/values.yaml', to: '@artifact/v', strategy: Merge}", "v=values.yaml"},
		// a directory is copied, not merged
		{"{from: '@r/apps/base/**', to: '@artifact/base/'}, {from: '@r/apps/prod/', to: '@artifact/', strategy: Merge}, {from: '@r/apps/prod/**', to: '@artifact/base/', strategy: Merge}", "base/b.yaml=apps/base/b.yaml+apps/prod/b.yaml base/deep/c.yaml=apps/base/deep/c.yaml base/deep/n.md=apps/base/deep/n.md prod/b.yaml=apps/prod/b.yaml"},
		{"{from: '@r/gone/**', to: '@artifact/'}", "path that does not exist: @r/gone/**, which an ArtifactGenerator copies"},
		{"{from: '@r/gone/', to: '@artifact/'}", "path that does not exist: @r/gone/, which an ArtifactGenerator copies"},
		{"{from: '@r/apps/base/**', to: '@artifact/', exclude: ['**']}", "path that does not exist: @r/apps/base/**, which an ArtifactGenerator copies"},
		{"{from: '@r/./apps/**', to: '@artifact/'}", "path that does not exist: @r/./apps/**, which an ArtifactGenerator copies"},
		{"{from: '@r/apps/[/**', to: '@artifact/'}", "pointer that cannot be read: the glob @r/apps/[/**"},
		{"{from: '@other/apps/**', to: '@artifact/'}", "pointer that cannot be read: @other/apps/**, expected the alias of a source and a path, as in @alias/path"},
		{"{from: '@far/apps/**', to: '@artifact/'}", "another repository: far"},
		{"{from: '@r/apps/**', to: '@artifact/../x'}", "pointer that cannot be read: an ArtifactGenerator copies to @artifact/../x with the strategy Overwrite"},
		{"{from: '@r/apps/**', to: '@repo/x'}", "pointer that cannot be read: an ArtifactGenerator copies to @repo/x with the strategy Overwrite"},
		{"{from: '@r/x.tgz', to: '@artifact/', strategy: Extract}", "source that is not a Git repository: @r/x.tgz, which an ArtifactGenerator extracts"},
		{"{from: '@r/apps/${x}/**', to: '@artifact/'}", "variable in the pointer: an ArtifactGenerator has @r/apps/${x}/**"},
	} {
		if got := contents("artifacts: [{name: a, copy: ["+c.copies+"]}]", files); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s\n%q\nwant\n%q", c.copies, got, c.want)
		}
	}
	// other parts of a generator
	files = []string{"apps/A/x.yaml", "apps/A/envs/prod/y.yaml", "apps/b/x.yaml", "apps/b/envs/prod/y.yaml"}
	for _, c := range []struct {
		spec string
		want []string
	}{
		{"artifacts: [{name: b, copy: []}]", nil},
		{"artifacts: [{name: '${x}', copy: []}]", []string{"variable in the pointer: an ArtifactGenerator holds a variable"}},
		{"pathPattern: '@r/apps/{app}', artifacts: [{name: '{app}', copy: [{from: '@r/apps/{app}/**', to: '@artifact/{app}/'}]}]", []string{"A/envs/prod/y.yaml=apps/A/envs/prod/y.yaml A/x.yaml=apps/A/x.yaml"}},
		{"pathPattern: '@r/apps/{app}/envs/{env}', artifacts: [{name: 'b-{env}'}, {name: '{app}', copy: [{from: '@r/apps/{app}/envs/{env}/**', to: '@artifact/'}]}]", []string{"y.yaml=apps/A/envs/prod/y.yaml"}},
		{"pathPattern: '@r/apps/{app}', artifacts: [{name: a, copy: [{from: '@r/apps/{other}/**', to: '@artifact/'}]}]", []string{"variable in the pointer: an ArtifactGenerator has @r/apps/{other}/**", "variable in the pointer: an ArtifactGenerator has @r/apps/{other}/**"}},
		{"pathPattern: '@r/apps/{app}/{app}', artifacts: [{name: '{app}'}]", []string{"pointer that cannot be read: the pathPattern @r/apps/{app}/{app}"}},
		{"pathPattern: '@far/apps/{app}', artifacts: [{name: '{app}'}]", []string{"another repository: far"}},
	} {
		if got := contents(c.spec, files); !slices.Equal(got, c.want) {
			t.Errorf("%s\n%q\nwant\n%q", c.spec, got, c.want)
		}
	}
}

// contents returns what each ArtifactGenerator of the spec puts into the artifact a.
func contents(spec string, files []string) (all []string) {
	sources := "sources: [{alias: r, kind: GitRepository, name: here}, {alias: far, kind: GitRepository, name: far}], "
	r := &Reader{Repositories: NewRepositories(nil, nil, objectsOf("apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: n}\nspec: {"+sources+spec+"}\n"), nil)}
	for _, a := range r.Artifacts(Repository{Kind: ExternalArtifact, Namespace: "n", Name: "a"}, func(from Repository) (string, []string, Reason) {
		if from.Name == "far" {
			return "", nil, Reason{What: WhyElsewhere, Detail: "far"}
		}
		return ".", files, Reason{}
	}) {
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(a.Files)) {
			from := []string{a.Files[name]}
			if merged := a.Merged[name]; merged != nil {
				from = merged
			}
			lines = append(lines, fmt.Sprintf("%s=%s", name, strings.Join(from, "+")))
		}
		if a.Why.Some() {
			lines = []string{a.Why.String()}
		}
		all = append(all, strings.Join(lines, " "))
	}
	return all
}

// TestArtifactsBounded checks that generators that copy too many files are refused.
func TestArtifactsBounded(t *testing.T) {
	var files []string
	for i := range 2000 {
		files = append(files, fmt.Sprintf("a/%04d", i))
	}
	copies := strings.Repeat("{from: '@r/a/**', to: '@artifact/'}, ", 500)
	if got := contents("artifacts: [{name: a, copy: ["+copies+"]}]", files); len(got) != 1 || !strings.Contains(got[0], "copy too many files") {
		t.Errorf("%d artifacts, %.200q", len(got), got)
	}
}
