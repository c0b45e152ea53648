package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestRenderMistakes covers every possible mistake in an entry.
func TestRenderMistakes(t *testing.T) {
	const (
		helm   = ": is only valid with helm"
		either = ": expected kustomize or helm, a directory or a glob, files, or pointers, a glob"
	)
	for text, want := range map[string]string{
		"[{}]":                             "1:11: renders[0]" + either,
		"[~]":                              "1:11: renders[0]" + either,
		"[prod]":                           "1:11: renders[0]: expected a map",
		"{kustomize: a}":                   "1:1: renders: expected a list",
		"[{kustomise: a}]":                 "1:11: renders[0]" + either + "\n1:12: unknown key renders[0].kustomise; did you mean kustomize?",
		"[{helm: ''}]":                     "1:12: renders[0].helm: expected a directory or a glob, found nothing",
		"[{helm: 'oci://example.com/a'}]":  "1:12: renders[0].helm: expected a directory of the repository, found a URL: vendor it and name the directory",
		"[{helm: a/Chart.yaml}]":           "1:12: renders[0].helm: expected the directory of a chart, found the file a/Chart.yaml",
		"[{helm: a-1.0.0.tgz}]":            "1:12: renders[0].helm: expected the directory of a chart, found the file a-1.0.0.tgz",
		"[{helm: a, each-values: b.yaml}]": `1:21: renders[0].each-values: expected a path with one {name} and no glob, such as env/{name}.yaml, found "b.yaml"`,
		"[{helm: a, each-values: '{name}/{name}'}]":                                `1:21: renders[0].each-values: expected a path with one {name} and no glob, such as env/{name}.yaml, found "{name}/{name}"`,
		"[{helm: a, name: B}]":                                                     `1:21: renders[0].name: expected the name of a Helm release, found "B"`,
		"[{helm: 'a/*', name: b}]":                                                 "1:25: renders[0].name: a glob may stand for several renders: remove the name, or name one directory",
		"[{helm: a, namespace: b c}]":                                              `1:21: renders[0].namespace: expected a namespace, found "b c"`,
		"[{helm: a, helm-version: 4}]":                                             "1:21: renders[0].helm-version: expected a string",
		"[{helm: a, helm-version: 2.17.0}]":                                        `1:21: renders[0].helm-version: expected a version of Helm 3 or 4, such as "4.0.0", found "2.17.0"`,
		"[{helm: a, kube-version: 1.36}]":                                          "1:21: renders[0].kube-version: expected a string",
		"[{helm: a, kube-version: new}]":                                           `1:21: renders[0].kube-version: expected a version of Kubernetes such as "1.36", found "new"`,
		"[{helm: a, api-versions: ['']}]":                                          "1:36: renders[0].api-versions[0]: expected an API version such as monitoring.coreos.com/v1, found nothing",
		"[{helm: a, values: b}]":                                                   "1:21: renders[0].values: expected a list",
		"[{helm: a, values: ['']}]":                                                "1:30: renders[0].values[0]: expected a file, found nothing",
		"[{helm: a, set: {b: [c]}}]":                                               "1:27: renders[0].set.b: expected one value; write nested keys with dots, as in --set",
		"[{helm: a, set: {'b,c': d}}]":                                             `1:27: renders[0].set: expected a key as --set takes it, without any of =,{} and no \ at the end, found "b,c"`,
		"[{helm: a, set-string: {b: }}]":                                           "1:34: renders[0].set-string.b: expected a text, found nothing",
		"[{helm: a, remotes: {b: c}}]":                                             "1:21: renders[0].remotes: cannot be combined with helm",
		"[{helm: a}, {helm: ./a/}]":                                                "1:22: renders[1]: a is the name of renders[0] as well: give one of them another name",
		"[{helm: a, each-values: 'b/{name}'}, {helm: a, each-values: 'c/{name}'}]": "", // Expand reports the problem
		"[{pointers: a, set: {b: c}}]":                                             "1:25: renders[0].set" + helm,
		"[{files: [a], values: [b]}]":                                              "1:24: renders[0].values" + helm,
		"[{kustomize: a, namespace: b}]":                                           "1:26: renders[0].namespace" + helm,
		"[{kustomize: a, files: [b]}]":                                             "1:11: renders[0]: expected one of kustomize, helm, files, pointers, found kustomize and files: make them 2 entries",
		"[{kustomize: ''}]":                                                        "1:12: renders[0].kustomize: expected a directory or a glob, found nothing",
		"[{kustomize: 'a/[b'}]":                                                    `1:12: renders[0].kustomize: "a/[b" is not a valid glob`,
		"[{kustomize: a/kustomization.yml}]":                                       "1:12: renders[0].kustomize: expected a directory, found the file a/kustomization.yml: name the directory that holds it",
		"[{kustomize: 'https://example.com/a'}]":                                   "1:12: renders[0].kustomize: expected a directory of the repository, found a URL: vendor it and name the directory",
		"[{kustomize: 'a/*', name: b}]":                                            "1:30: renders[0].name: a glob may stand for several renders: remove the name, or name one directory",
		"[{kustomize: a, name: 'b*'}]":                                             `1:26: renders[0].name: expected a name without control characters and any of *?[{\]}, found "b*"`,
		"[{kustomize: a, load-restrictor: none}]":                                  `1:26: renders[0].load-restrictor: expected one of root-only, repository, found "none"`,
		"[{kustomize: a, source-root: b}]":                                         "1:26: renders[0].source-root: belongs to files: kustomize knows where its input is",
		"[{kustomize: a, remotes: {'': b}}]":                                       "1:36: renders[0].remotes: expected a URL, found nothing",
		"[{kustomize: a, remotes: {'b': ''}}]":                                     "1:36: renders[0].remotes.b: expected a file, found nothing",
		"[{files: []}]":                                                            "1:12: renders[0].files: expected a file",
		"[{files: [a], remotes: {b: c}}]":                                          "1:24: renders[0].remotes: belongs to kustomize: files are read as they are",
		"[{kustomize: a}, {kustomize: ./a/}]":                                      "1:27: renders[1]: a is the name of renders[0] as well: give one of them another name",
		"[{kustomize: a}, {files: [b], name: a}]":                                  "1:27: renders[1]: a is the name of renders[0] as well: give one of them another name",
		"[{kustomize: a/*}, {kustomize: a/*}]":                                     "", // Expand reports the problem
		"[{kustomize: a}, {kustomize: a, name: b, load-restrictor: root-only}]":    "",
	} {
		refuses(t, "renders: "+text, want)
	}
}

// TestFoundRenders checks that globs in a configuration that was found match only in the tree.
func TestFoundRenders(t *testing.T) {
	for glob, want := range map[string]string{
		"*": "", "./a/**": "", "../a/*": "../a lies outside of the directory of the configuration: put it inside, or name it with -k",
		"/etc/*": "/etc lies outside of the directory of the configuration: put it inside, or name it with -k",
	} {
		if _, err := load(t, "renders: [{kustomize: '"+glob+"'}]"); err != nil {
			t.Errorf("%s is refused of one that is named: %v", glob, err)
		}
		_, err := LoadFound(Name, "")
		if want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%s: %v, want %q", glob, err, want)
		}
	}
}

// TestDiscovers checks that an absent key and an empty one have different meanings.
func TestDiscovers(t *testing.T) {
	for text, want := range map[string]bool{"": true, "renders:": true, "renders: []": false, "renders: [{kustomize: a}]": false} {
		if c, err := load(t, text); err != nil || c.Discovers() != want {
			t.Errorf("%q: %v, %v", text, c.Discovers(), err)
		}
	}
}

// TestExpand checks the names of renders, and the errors.
func TestExpand(t *testing.T) {
	roots := []string{"prod/b", "prod/a", "stage/a", ".", "deep/x/y"}
	for _, test := range []struct{ text, want, wrong string }{
		{"", ". deep/x/y prod/a prod/b stage/a", ""},
		{"renders: []", "", ""},
		{"renders: [{kustomize: prod/*}, {files: [r/x.yaml, z]}, {kustomize: base}]", "prod/a prod/b r/x.yaml base", ""},
		{"renders: [{kustomize: ./prod/*/}, {kustomize: '*'}]", "prod/a prod/b .", ""},
		{"renders: [{kustomize: '**/a'}, {kustomize: prod/a, name: special}]", "prod/a stage/a special", ""},
		{"renders: [{kustomize: 'dev/*'}, {kustomize: prod}]", "prod",
			"1:11: renders[0]: dev/* matches no kustomization that is a root: name a directory, or run schedlint inputs to see the roots"},
		{"renders: [{kustomize: prod/*}, {kustomize: prod/a}]", "prod/a prod/b",
			"1:32: renders[1]: prod/a is the name of a render of renders[0] as well: remove one of the entries, or give one a name"},
	} {
		c, err := load(t, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		all, err := c.Expand(Tree{Roots: slices.Concat(roots, roots[:1])})
		var names []string
		for _, r := range all {
			names = append(names, r.Name)
			if r.Entry != nil && r.Literal == r.Entry.IsGlob() {
				t.Errorf("%s: %s is literal: %v", test.text, r.Name, r.Literal)
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
		said := ""
		if err != nil {
			said = strings.TrimPrefix(err.Error(), Name+":")
		}
		if said != test.wrong {
			t.Errorf("%s: %q, want %q", test.text, said, test.wrong)
		}
	}
}

// TestCheckClusters checks that entries that match no render are found.
func TestCheckClusters(t *testing.T) {
	c, err := load(t, `
renders: [{kustomize: "clusters/*/o"}, {kustomize: legacy, name: old}, {files: [r/x.yaml], name: shop-prod}]
clusters:
- {name: prod, renders: [clusters/prod, shop-prod, r/x.yaml, legacy, old]}
- {name: dev, renders: [clusters/dev/*, "clusters/*/p", shop-prd]}
`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Expand(Tree{Roots: []string{"clusters/prod/o", "clusters/dev/o"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Name + ":5:41: clusters[1].renders[1]: clusters/*/p matches no render; schedlint inputs lists what can be rendered\n" +
		Name + ":5:57: clusters[1].renders[2]: shop-prd matches no render; did you mean shop-prod?"
	if err := c.CheckClusters(all); err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	got := ""
	for _, r := range all {
		got += fmt.Sprintf("%s %v %v; ", r.Name, c.Clusters[0].Deploys(r), c.Clusters[1].Deploys(r))
	}
	if want := "clusters/dev/o false true; clusters/prod/o true false; old true false; shop-prod true false; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLoosenedRenders checks which changes of renders make findings disappear.
func TestLoosenedRenders(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{"", "", ""},
		{"", "renders: []", "1:1: nothing is rendered any more: renders is empty"},
		{"", "renders: [{kustomize: a}]", "1:1: roots are not discovered any more: only what renders names is rendered"},
		{"renders: []", "", ""},
		{"renders: [{kustomize: a}]", "renders: [{kustomize: a}, {kustomize: b}]", ""},
		{"renders: [{kustomize: a}]", "renders: [{kustomize: ./a, name: b}]", ""},
		{"renders: [{kustomize: a}, {files: [b, c]}]", "renders: []", "1:1: a render is not asked for any more: a\n1:1: a render is not asked for any more: b, c"},
		{"renders: [{files: [b, c]}]", "renders: [{files: [c]}]", "1:11: a rendered file is not read any more: b"},
		{"renders: [{kustomize: 'a/*'}]", "", ""},
		{"renders: [{kustomize: a}]", "", "1:1: a render is not asked for any more: a"},
		{"renders: [{kustomize: a}]", "renders: [{kustomize: a, load-restrictor: root-only}]", "1:11: kustomizations that read files outside of their directory are not rendered any more: a"},
		{"renders: [{kustomize: a, load-restrictor: root-only}]", "renders: [{kustomize: a}]", ""},
		{"renders: [{kustomize: a}]", "renders: [{kustomize: a, remotes: {u: v}}]", ""},
		{"renders: [{kustomize: a, remotes: {u: v, x: z}}]", "renders: [{kustomize: a, remotes: {u: w}}]",
			"1:11: another directory is read for u: w instead of v\n1:11: another directory is read for x: none instead of z"},
		{"renders: [{kustomize: 'a/*', remotes: {u: v}}]", "", "1:1: another directory is read for u: none instead of v"},
		{"renders: [{helm: a, values: [b]}, {helm: a, name: c}]", "renders: [{helm: a, values: [b]}]", "1:1: a render is not asked for any more: a"},
		{"renders: [{helm: a, values: [b]}]", "renders: [{helm: a, name: c, values: [b]}]", ""},
		{"renders: [{helm: a, values: [b]}]", "renders: [{helm: a, set: {d: 1, e: f}}]", "1:11: a chart is rendered with other settings (values, set, set-string): a"},
		{"renders: [{helm: 'a/*'}]", "", "1:1: a render is not asked for any more: a/*"},
		{"clusters: [{name: a, renders: [b, c]}]", "clusters: [{name: a, renders: [c]}]", "1:1: cluster a has other renders"},
		{"renders: [{files: [b]}]", "renders: [{files: [c]}]", "1:1: a render is not asked for any more: b"},
		{"clusters: [{name: a, paths: [d]}]", "clusters: []", "1:1: cluster a is not declared any more"},
		{"clusters: [{name: a, paths: [d]}]", "clusters: [{name: a, paths: [d, e]}]", "1:1: cluster a has other paths"},
		{"clusters: [{name: a, paths: [d], topology: [u]}]", "clusters: [{name: a, paths: [d], topology: [v]}]", "1:1: cluster a has another topology"},
		{"clusters: [{name: a, pointers: [d]}]", "clusters: [{name: a, pointers: [e]}]", "1:1: cluster a has other pointers or destinations"},
		{"clusters: [{name: a, destinations: [d]}]", "clusters: [{name: a, destinations: [e]}]", "1:1: cluster a has other pointers or destinations"},
		{"clusters: [{name: a, paths: [d], server: 'https://a', labels: {e: f}}]", "clusters: [{name: a, paths: [d], server: 'https://a', labels: {e: g}}]", "1:1: cluster a has another server, other labels or other annotations"},
		{"clusters: [{name: a, destinations: [d], server: 'https://e'}]", "clusters: [{name: a, destinations: [d], server: 'https://f'}]", "1:1: cluster a has another server, other labels or other annotations"},
		{"clusters: [{name: a, paths: [d], server: 'https://a', annotations: {e: f}}]", "clusters: [{name: a, paths: [d], server: 'https://a'}]", "1:1: cluster a has another server, other labels or other annotations"},
		{"clusters: [{name: a, paths: [d], server: 'https://a', labels: {e: f}}]", "clusters: [{name: a, paths: [d], server: 'https://a', labels: {e: f}}]", ""},
		{"", "clusters: [{name: a, paths: [d], renders: [b]}]", "1:1: cluster a is declared, and is checked apart from the rest: d, b"},
	} {
		before, err := load(t, test.before)
		if err != nil {
			t.Fatal(err)
		}
		after, err := load(t, test.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range after.Loosened(before, nil, func(*Config, string) diag.Level { return diag.LevelError }) {
			got = append(got, fmt.Sprintf("%d:%d: %s", s.Location.Line, s.Location.Column, s.Message))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s, then %s: %s", test.before, test.after, diff)
		}
	}
}

// TestWiden checks that the renders of a changed configuration are added, also to a cluster that has
// others, and that those it lacks stay.
func TestWiden(t *testing.T) {
	const before = "renders: [{kustomize: a, name: a}, {kustomize: b, name: b}]\nclusters: [{name: one, renders: [a]}, {name: two, renders: [b]}]"
	for _, test := range []struct{ before, change, want, stays string }{
		{before, before, "a b; one: a; two: b", ""},
		{before, "renders: [{kustomize: b, name: b}, {kustomize: c, name: c}]\nclusters: [{name: two, renders: [b, c]}, {name: three, renders: [b]}]", "a b c; one: a; two: b c", "a"},
		{before, "", "a b; one: a; two: b", ""},
		{"", before, "", ""},
	} {
		c, err := load(t, test.before)
		if err != nil {
			t.Fatal(err)
		}
		change, err := load(t, test.change)
		if err != nil {
			t.Fatal(err)
		}
		stays := strings.Join(c.Widen(change), " ")
		var names []string
		for i := range c.Renders {
			names = append(names, c.Renders[i].Name)
		}
		got := strings.Join(names, " ")
		for _, cluster := range c.Clusters {
			got += "; " + cluster.Name + ": " + strings.Join(cluster.Renders, " ")
		}
		if got != test.want || stays != test.stays {
			t.Errorf("%s, then %s: %q, and %q stays", test.before, test.change, got, stays)
		}
	}
}

// TestFollows checks which pointers are followed for renders and for clusters. Without pointers and
// destinations, a cluster asks for none; with both, it asks for those that match both.
func TestFollows(t *testing.T) {
	for _, test := range []struct {
		config            string
		file, destination string
		want              bool
	}{
		{"", "apps/a.yaml", "prod", true},
		{"renders: []\nclusters: [{name: c, paths: [p]}]", "apps/a.yaml", "prod", false},
		{"renders: [{pointers: 'apps/*'}]", "apps/a.yaml", "prod", true},
		{"renders: [{pointers: 'apps/*'}]", "other/a.yaml", "prod", false},
		{"renders: []\nclusters: [{name: c, destinations: [prod]}]", "apps/a.yaml", "prod", true},
		{"renders: []\nclusters: [{name: c, destinations: [prod]}]", "apps/a.yaml", "test", false},
		{"renders: []\nclusters: [{name: c, pointers: ['apps/*'], destinations: [prod]}]", "apps/a.yaml", "prod", true},
		{"renders: []\nclusters: [{name: c, pointers: ['apps/*'], destinations: [prod]}]", "apps/a.yaml", "test", false},
		{"renders: []\nclusters: [{name: c, pointers: ['apps/*'], destinations: [prod]}]", "other/a.yaml", "prod", false},
	} {
		c, err := load(t, test.config)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Follows([]string{test.file}, []string{test.destination}); got != test.want {
			t.Errorf("%s: %s to %s: %v, want %v", test.config, test.file, test.destination, got, test.want)
		}
	}
}

// TestMovedRenders checks the paths of renders after At.
func TestMovedRenders(t *testing.T) {
	if _, err := load(t, "renders: [{kustomize: a, remotes: {u: sub/../v}}]"); err != nil {
		t.Fatal(err)
	}
	c, err := LoadFound(Name, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Renders[0].Kustomize = "../out"
	dir := t.TempDir()
	if _, err := c.At(dir, dir, "other.yaml"); err == nil || err.Error() != Name+": renders[0]: ../out lies outside of the directory of the configuration" {
		t.Errorf("%v", err)
	}
}
