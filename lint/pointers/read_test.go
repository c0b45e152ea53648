package pointers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// fakeTree is a repository that maps file names to contents.
type fakeTree map[string]string

func (t fakeTree) Files() []string {
	var all []string
	for name := range t {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (t fakeTree) Directories() []string {
	var all []string
	for name := range t {
		for i := range name {
			if name[i] == '/' {
				all = append(all, name[:i])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (t fakeTree) Read(name string) *source.Node {
	if docs := source.NewFile(name, name, []byte(t[name])).Roots(); len(docs) > 0 {
		return docs[0]
	}
	return nil
}

func objectsOf(text string) (all []*source.Object) {
	file := source.NewFile("p.yaml", "p.yaml", []byte(text))
	for _, doc := range file.Roots() {
		all = append(all, file.ObjectsOf(doc)...)
	}
	return all
}

// read returns the pointers in a string, one per line.
func read(r *Reader, text string) (all []string) {
	for _, o := range objectsOf(text) {
		for _, p := range r.Read(o) {
			line := fmt.Sprintf("%d %s", p.Line, p.Name)
			if p.Suspended {
				line += " suspended"
			}
			for _, s := range p.Sources {
				line += fmt.Sprintf(" [%s%s", s.Path, s.Fields)
				if s.Why.Some() {
					line += " " + s.Why.String()
				}
				line += "]"
			}
			if p.Why.Some() {
				line += " " + p.Why.String()
			}
			all = append(all, line)
		}
	}
	return all
}

const (
	kustomizationHead  = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: a}\nspec:\n"
	applicationHead    = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  destination: {name: x, namespace: n}\n"
	applicationSetHead = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n"
	setTemplate        = "  template:\n    metadata: {name: 'x-{{name}}'}\n    spec: {source: {repoURL: https://h/o/r, path: '{{dir}}'}}\n"
)

// TestRead checks what pointers deploy, or why it is unknown.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n", nil},
		{"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\nspec: {}\n", nil},
		{kustomizationHead + "  path: ./a/b/\n", []string{"3 a [a/b]"}},
		{kustomizationHead + "  path: /a\n  suspend: true\n", []string{"3 a suspended [a]"}},
		{kustomizationHead + "  interval: 1m\n", []string{"3 a [.]"}},
		{kustomizationHead + "  path: a/../../b\n", []string{"3 a [../b path outside of the repository: a/../../b]"}},
		{kustomizationHead + "  path: a\n  sourceRef: {kind: OCIRepository, name: x}\n", []string{"3 a [a source that is not a Git repository: OCIRepository x]"}},
		{kustomizationHead + "  path: a\n  targetNamespace: prod\n  namePrefix: p-\n  images: [{name: i, newTag: '1'}]\n  components: [../c]\n", []string{`3 a [a{"components":["../c"],"images":[{"name":"i","newTag":"1"}],"namePrefix":"p-","namespace":"prod"}]`}},
		{kustomizationHead + "  path: a\n  patchesJson6902:\n  - target: {kind: X}\n    patch: [{op: remove, path: /a}]\n", []string{`3 a [a{"patches":[{"patch":"[{\"op\":\"remove\",\"path\":\"/a\"}]","target":{"kind":"X"}}]}]`}},
		{"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {chart: {spec: {chart: redis, sourceRef: {kind: HelmRepository, name: x}}}}\n", []string{"3 a [ Helm chart: redis of HelmRepository x, which is not in the tree]"}},
		{"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {chart: {spec: {chart: ../c, sourceRef: {kind: GitRepository, name: x}}}}\n", []string{"3 a [../c path outside of the repository: ../c]"}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: a}\n", []string{"3 a [a]"}},
		{applicationHead + "  sources: [{repoURL: https://h/o/r, path: a}, {repoURL: https://h/c, chart: redis}, {repoURL: https://h/o/r, ref: values}]\n", []string{"3 a [a] [.] [. source of values only]"}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: a, kustomize: {images: ['x=y:1@sha256:0', 'h:5/z:2'], replicas: [{name: w, count: '3'}]}}\n", []string{`3 a [a{"images":[{"digest":"sha256:0","name":"x","newName":"y","newTag":"1"},{"name":"h:5/z","newTag":"2"}],"replicas":[{"count":3,"name":"w"}]}]`}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: a, plugin: {name: p}}\n", []string{"3 a [a plugin: p]"}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: /etc}\n", []string{"3 a [/etc path outside of the repository: /etc]"}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: '{{ .Values.path }}'}\n", []string{"3 a [{{ .Values.path }} variable in the pointer: a source holds a variable]"}},
		{applicationHead + "  source: {repoURL: https://h/o/r, path: a, targetRevision: '${REVISION}'}\n", []string{"3 a [a]"}},
		{applicationHead + "  source: {path: a}\n", []string{"3 a [a pointer that cannot be read: a source has no repoURL]"}},
		{applicationSetHead + "  generators:\n  - list: {elements: [{name: b, dir: d1}, {name: c}]}\n  - clusters: {}\n" + setTemplate, []string{
			"6 x-b [d1]", "6 x-c [{{dir}} template too complex to expand: a source of the template]", "7 a generator that queries the cluster or a service: clusters",
		}},
		{applicationSetHead + "  generators: [{git: {repoURL: git@h:o/r.git, directories: [{path: 't/*'}, {path: t/off, exclude: true}]}}]\n" + strings.ReplaceAll(strings.ReplaceAll(setTemplate, "{{name}}", "{{path[0]}}-{{path.basename}}"), "{{dir}}", "{{path}}"), []string{"3 x-t-On [t/On]"}},
		{applicationSetHead + "  goTemplate: true\n  generators: [{git: {repoURL: https://h/o/r, files: [{path: '**/c.json'}]}}]\n" + strings.ReplaceAll(strings.ReplaceAll(setTemplate, "{{name}}", "{{ index .path.segments 1 }}-{{.team.name}}"), "{{dir}}", "{{.path.path}}"), []string{"3 x-On-z [t/On]"}},
		{applicationSetHead + "  goTemplate: true\n  generators: [{list: {elements: [{name: b}]}}]\n" + strings.ReplaceAll(setTemplate, "{{dir}}", "{{ if true }}a{{ end }}"), []string{"6 a [{{ if true }}a{{ end }} template too complex to expand: a source of the template]"}},
		{applicationSetHead + "  generators: [{git: {repoURL: https://h/other, directories: [{path: '*'}]}}]\n" + setTemplate, []string{"5 a another repository: https://h/other"}},
		{applicationSetHead + "  templatePatch: x\n", []string{"3 a template too complex to expand: templatePatch"}},
		{applicationSetHead + "  generators: [{matrix: {generators: []}}]\n" + setTemplate, []string{"5 a pointer that cannot be read: matrix has 0 generators, expected 2"}},
		{applicationSetHead + "  generators: [{merge: {mergeKeys: [name], generators: [{clusters: {}}, {list: {}}]}}]\n" + setTemplate, []string{"5 a generator that queries the cluster or a service: clusters"}},
		{kustomizationHead[:len(kustomizationHead)-len("spec:\n")], []string{"3 a pointer that cannot be read: has no spec"}},
	} {
		r := &Reader{Repositories: NewRepositories([]string{"https://h/o/r"}, nil, nil, nil), Tree: fakeTree{"t/On/c.json": `{"team": {"name": "z"}}`, "t/off/x.yaml": ""}}
		if got := read(r, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s\n%q\nwant\n%q", c.text, got, c.want)
		}
	}
}

// TestGenerators checks which Applications combined generators stand for, with two clusters.
func TestGenerators(t *testing.T) {
	clusters := []Cluster{
		{Name: "Edge_1", Server: "https://edge", Labels: map[string]string{"env": "prod", "example.com/tier": "b"}, Annotations: map[string]string{"dir": "e"}},
		{Name: "test", Server: "https://test", Labels: map[string]string{"env": "test"}},
	}
	const (
		local  = "in-cluster https:/kubernetes.default.svc"
		all    = "{{nameNormalized}} {{server}}"
		git    = "git: {repoURL: https://h/o/r, directories: [{path: 't/*'}]}"
		noTest = "selector: {matchExpressions: [{key: env, operator: NotIn, values: [test]}]}"
	)
	for _, c := range []struct {
		generator, path string // a generator in braces, and the path of the template
		want            []string
	}{
		{"clusters: {}", all, []string{"edge-1 https:/edge", "test https:/test", local}},
		{"clusters: {selector: {matchLabels: {env: prod}}}", all, []string{"edge-1 https:/edge"}},
		{"clusters: {selector: {matchExpressions: [{key: env, operator: In, values: [test, x]}]}}", all, []string{"test https:/test"}},
		{"clusters: {selector: {matchExpressions: [{key: example.com/tier, operator: Exists}]}}", all, []string{"edge-1 https:/edge"}},
		{"clusters: {selector: {matchExpressions: [{key: tier, operator: DoesNotExist}, {key: argocd.argoproj.io/secret-type, operator: Exists}]}}", all, []string{"edge-1 https:/edge", "test https:/test"}},
		{"clusters: {selector: {matchExpressions: [{key: env, operator: Gt}]}}", all, []string{"pointer that cannot be read: a selector with the operator Gt"}},
		{"clusters: {" + noTest + "}", "{{metadata.labels.env}}/{{metadata.labels.example.com/tier}}", []string{"template too complex to expand: a source of the template"}},
		{"clusters: {" + noTest + ", values: {x: 'v-{{name}}', y: '{{metadata.annotations.dir}}'}}", "{{values.x}}/{{values.y}}/{{metadata.labels.env}}", []string{"v-Edge_1/e/prod"}},
		{"clusters: {flatList: true}", all, []string{"template too complex to expand: a clusters generator with flatList"}},
		{"clusters: {template: {metadata: {}}}", all, []string{"template too complex to expand: a generator with a template of its own"}},
		{"clusters: {}, list: {}", all, []string{"template too complex to expand: several kinds in one generator"}},
		{"clusters: {}, selector: {matchLabels: {metadata.labels.env: test}}", all, []string{"test https:/test"}},
		{"clusters: {}, selector: {matchExpressions: [{key: metadata.labels.env, operator: NotIn, values: [prod]}]}", all, []string{"test https:/test", local}},
		{git + ", selector: {matchExpressions: [{key: 'path[1]', operator: In, values: [On]}]}", "{{path}}", []string{"t/On"}},
		// merge: the first one says which there are
		{"merge: {mergeKeys: [nameNormalized], generators: [{clusters: {values: {dir: base}}}, {list: {elements: [{nameNormalized: test, values.dir: own}, {nameNormalized: gone, values.dir: x}]}}]}", "{{nameNormalized}}/{{values.dir}}", []string{"edge-1/base", "test/own", "in-cluster/base"}},
		{"merge: {mergeKeys: [a, b], generators: [{list: {elements: [{a: '1', b: '1', c: x}, {a: '1', c: y}]}}, {list: {elements: [{a: '1', c: z}]}}, {list: {elements: [{b: '1', c: no}]}}]}", "{{c}}", []string{"x", "z"}},
		{"merge: {mergeKeys: [a], generators: [{list: {elements: [{a: '1'}, {a: '1'}]}}, {list: {}}]}", "{{a}}", []string{"pointer that cannot be read: elements of one generator of merge have the same values of mergeKeys"}},
		{"merge: {mergeKeys: [a], generators: [{list: {}}]}", "{{a}}", []string{"pointer that cannot be read: merge has 1 mergeKeys and 1 generators, expected at least 1 and 2"}},
		{"merge: {mergeKeys: [name], generators: [{clusters: {}}, {plugin: {}}]}", all, []string{"generator that queries the cluster or a service: plugin"}},
		{"merge: {mergeKeys: ['path[1]'], generators: [{" + git + "}, {list: {elements: [{'path[1]': off, d: x}, {'path[1]': 'On', d: z}]}}]}", "{{path}}/{{d}}", []string{"t/On/z", "t/off/x"}},
		// matrix: the second one may refer to the first one
		{"matrix: {generators: [{clusters: {}}, {list: {elements: [{d: a}, {d: b}]}}]}, selector: {matchLabels: {d: b}}", "{{name}}/{{d}}", []string{"Edge_1/b", "test/b", "in-cluster/b"}},
		{"matrix: {generators: [{" + git + "}, {clusters: {selector: {matchLabels: {env: '{{path.basename}}'}}}}]}", "{{path}}/{{name}}", nil},
		{"matrix: {generators: [{list: {elements: [{want: test}, {want: prod}]}}, {clusters: {selector: {matchLabels: {env: '{{want}}'}}, values: {w: '{{want}}', n: '{{name}}'}}}]}", "{{want}}/{{values.w}}/{{values.n}}", []string{"test/test/test", "prod/prod/Edge_1"}},
		{"matrix: {generators: [{list: {elements: [{d: On}]}}, {git: {repoURL: https://h/o/r, directories: [{path: 't/{{d}}'}]}}]}", "{{path}}/{{d}}", []string{"t/On/On"}},
		{"matrix: {generators: [{list: {elements: [{d: On}]}}, {git: {repoURL: https://h/o/r, directories: [{path: 't/{{e}}'}]}}]}", "{{path}}", []string{"template too complex to expand: a generator refers to a parameter that is not known"}},
		{"matrix: {generators: [{list: {elements: [{d: a}]}}, {list: {elements: [{d: b}]}}]}", "{{d}}", []string{"pointer that cannot be read: the generators of matrix give different values for one parameter"}},
		{"matrix: {generators: [{list: {elements: [{d: a}]}}, {list: {elements: [{d: a, e: 'x{{d}}'}]}}]}", "{{d}}{{e}}", []string{"axa"}},
		{"matrix: {generators: [{merge: {mergeKeys: [name], generators: [{clusters: {}}, {list: {elements: [{name: test, server: s}]}}]}}, {list: {elements: [{d: '1'}]}}]}", "{{server}}/{{d}}", []string{"https:/edge/1", "s/1", "https:/kubernetes.default.svc/1"}},
		{"matrix: {generators: [{list: {}}, {matrix: {generators: [{list: {}}, {list: {}}]}}]}", "{{d}}", nil},
		{"matrix: {generators: [{list: {elements: [{d: a}]}}, {matrix: {generators: [{list: {}}, {list: {}}]}}]}", "{{d}}", []string{"template too complex to expand: matrix within other generators"}},
		// Go templates
		{"go clusters: {" + noTest + ", values: {x: 'v-{{.name}}'}}", `{{.values.x}}/{{.metadata.labels.env}}/{{index .metadata.labels "example.com/tier"}}`, []string{"v-Edge_1/prod/b"}},
		{"go clusters: {" + noTest + "}", `{{.metadata.labels.example.com}}`, []string{"template too complex to expand: a source of the template"}},
		{"go matrix: {generators: [{list: {elements: [{d: a, v: {x: one}}]}}, {list: {elements: [{d: b, v: {y: '{{.d}}'}}]}}]}", "{{.d}}/{{.v.x}}/{{.v.y}}", []string{"a/one/a"}},
		{"go merge: {mergeKeys: [d], generators: [{list: {elements: [{d: a, v: {x: one, y: two}}]}}, {list: {elements: [{d: a, v: {x: ''}}]}}]}", "x{{.v.x}}{{.v.y}}", []string{"xtwo"}},
		{"go merge: {mergeKeys: [v.x], generators: [{list: {elements: [{v: {x: a}}, {v: {x: b}}]}}, {list: {}}]}", "{{.v.x}}", []string{"pointer that cannot be read: elements of one generator of merge have the same values of mergeKeys"}},
		{"go list: {elements: [{a.b: x, l: [p, q]}]}, selector: {matchLabels: {a.b: x, l.1: q}}", "{{ index . \"a.b\" }}", []string{"template too complex to expand: a source of the template"}},
		{"go list: {elements: [{a.b: x, l: [p, q]}]}, selector: {matchLabels: {a.b: x, l.1: q}}", "x", []string{"x"}},
	} {
		generator, goTemplate := strings.CutPrefix(c.generator, "go ")
		text := applicationSetHead + fmt.Sprintf("  goTemplate: %t\n", goTemplate) + "  generators: [{" + generator + "}]\n  template:\n    metadata: {name: x}\n    spec: {source: {repoURL: https://h/o/r, path: '" + strings.ReplaceAll(c.path, "'", "''") + "'}}\n"
		r := &Reader{Repositories: NewRepositories([]string{"https://h/o/r"}, nil, nil, nil), Tree: fakeTree{"t/On/c.json": "", "t/off/x.yaml": ""}, Clusters: clusters}
		var got []string
		for _, o := range objectsOf(text) {
			for _, p := range r.Read(o) {
				switch {
				case p.Why.Some():
					got = append(got, p.Why.String())
				case p.Sources[0].Why.Some():
					got = append(got, p.Sources[0].Why.String())
				default:
					got = append(got, p.Sources[0].Path)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n%q\nwant\n%q", c.generator, got, c.want)
		}
	}
}

// TestReadBounded checks that ApplicationSets that generate too much are refused, with the right
// lines.
func TestReadBounded(t *testing.T) {
	tree := fakeTree{}
	for i := range limits.Applications + 1 {
		tree[fmt.Sprintf("t/%d/x.yaml", i)] = ""
	}
	r := &Reader{Repositories: NewRepositories([]string{"https://h/o/r"}, nil, nil, nil), Tree: tree}
	got := read(r, applicationSetHead+"  generators: [{git: {repoURL: https://h/o/r, directories: [{path: 't/*'}]}}]\n"+setTemplate)
	if len(got) != limits.Applications+1 || !strings.Contains(got[len(got)-1], "too many pointers") {
		t.Errorf("%d pointers, the last %s", len(got), got[len(got)-1])
	}
	big := strings.Repeat("x", 1<<20)
	got = read(&Reader{Repositories: r.Repositories}, applicationSetHead+"  generators: [{list: {elements: [{name: "+big+", dir: a}, {name: b, dir: b}]}}]\n"+strings.Replace(setTemplate, "{{name}}", strings.Repeat("{{name}}", 100), 1))
	if len(got) != 1 || !strings.Contains(got[0], "MiB of text") {
		t.Errorf("%d pointers, %.200q", len(got), got)
	}
	var list strings.Builder
	for i := range limits.Applications {
		fmt.Fprintf(&list, "{name: 'a%d'}, ", i)
	}
	matrix := func(second string) []string {
		return read(&Reader{Repositories: r.Repositories, Tree: tree, Clusters: []Cluster{{Name: "a", Server: "s"}}}, applicationSetHead+"  generators: [{matrix: {generators: [{list: {elements: ["+list.String()+"]}}, "+second+"]}}]\n"+setTemplate)
	}
	for second, want := range map[string]string{
		"{list: {elements: [" + strings.ReplaceAll(list.String(), "name", "n") + "]}}":                                                                                      "more than 5000 Applications",
		"{list: {elements: [" + strings.Repeat("{}, ", 4000) + "]}, selector: {matchExpressions: [{key: n, operator: In, values: [" + strings.Repeat("x, ", 1000) + "]}]}}": "too many names",
		"{clusters: {selector: {matchExpressions: [" + strings.Repeat("{key: n, operator: In, values: [x]}, ", 5000) + "]}}}":                                               "too many names",
	} {
		if got := matrix(second); len(got) == 0 || !strings.Contains(got[len(got)-1], want) {
			t.Errorf("%.60s: %d pointers, %.200q", second, len(got), got)
		}
	}
	globs := strings.Repeat("{path: 'x/*'}, ", 2000)
	got = read(&Reader{Repositories: r.Repositories, Tree: tree}, applicationSetHead+"  generators: [{git: {repoURL: https://h/o/r, directories: ["+globs+"]}}]\n"+setTemplate)
	if len(got) != 1 || !strings.Contains(got[0], "too many names") {
		t.Errorf("%q", got)
	}
}

// TestRepositories checks which addresses are those of this repository.
func TestRepositories(t *testing.T) {
	flux := func(name, url string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: f}\nspec: {url: '" + url + "'}\n---\n"
	}
	ref := func(name string) Repository { return Repository{Kind: "GitRepository", Namespace: "f", Name: name} }
	argo := func(url, path string) Naming { return Naming{Repository{URL: url}, path, "apps.yaml"} }
	const own, fork, other = "https://h/o/r", "https://h/fork", "https://h/o/other"
	for _, c := range []struct {
		known   []string
		named   []Naming
		objects string
		ask     Repository
		want    Whose
		assumed string
	}{
		{[]string{"git@h:o/r.git"}, nil, "", Repository{URL: "https://user:secret@h:8443/o/R/"}, Certain, ""},
		{[]string{"git@h:o/r.git"}, []Naming{argo(other, "")}, "", Repository{URL: other}, Presumed, "h/o/other"},
		{[]string{"git@h:o/r.git"}, []Naming{argo(own, ""), argo(other, "")}, "", Repository{URL: other}, Elsewhere, ""},
		{nil, []Naming{argo("https://h/a", ""), argo("https://h/b", "")}, "", Repository{URL: "https://h/a"}, Elsewhere, ""},
		{nil, nil, "", ref("gone"), Presumed, ""},
		{[]string{"ssh://git@h/o/r"}, nil, flux("x", own), ref("x"), Certain, ""},
		{[]string{"ssh://git@h/o/r"}, []Naming{argo(own, "")}, flux("x", "https://h/o/lib"), ref("x"), Elsewhere, ""},
		{[]string{"ssh://git@h/o/r"}, nil, flux("x", "https://h/o/lib") + flux("x", own), ref("x"), Elsewhere, ""},
		// A clone under another address: two directories of one address, and all of them are here.
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/b"), argo(other, "gone")}, "", Repository{URL: own}, Presumed, "h/o/r"},
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/b"), argo(own, ""), argo(other, ".")}, "", Repository{URL: own}, Presumed, "h/o/r"},
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/b"), argo(fork, "gone")}, "", Repository{URL: own}, Elsewhere, ""},
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/b"), argo(own, "gone"), argo(other, "gone")}, "", Repository{URL: own}, Elsewhere, ""},
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/a"), argo(own, "."), argo(other, "gone")}, "", Repository{URL: own}, Elsewhere, ""},
		{[]string{fork}, []Naming{argo(own, "here/a"), argo(own, "here/b"), argo(other, "here/c"), argo(other, "here/d")}, "", Repository{URL: own}, Elsewhere, ""},
		{nil, []Naming{{ref("x"), "here/a", "f.yaml"}, {ref("x"), "here/b", "f.yaml"}}, flux("x", own) + flux("y", other), ref("x"), Presumed, "h/o/r"},
		{nil, []Naming{{ref("x"), "here/a", "f.yaml"}, {ref("x"), "here/b", "f.yaml"}}, flux("x", own) + flux("x", other), ref("x"), Elsewhere, ""},
		// A missing directory counts, unless only a leftover names it.
		{nil, []Naming{{ref("x"), "here/a", "here/a/f.yaml"}, {ref("x"), "here/b", "f.yaml"}, {ref("x"), "gone", "old/f.yaml"}}, flux("x", own) + flux("y", other), ref("x"), Presumed, "h/o/r"},
		{nil, []Naming{{ref("x"), "here/a", "here/a/f.yaml"}, {ref("x"), "here/b", "f.yaml"}, {ref("x"), "gone", "here/b/f.yaml"}}, flux("x", own) + flux("y", other), ref("x"), Elsewhere, ""},
	} {
		r := NewRepositories(c.known, c.named, objectsOf(c.objects), fakeTree{"here/a/x": "", "here/b/x": "", "here/c/x": "", "here/d/x": ""}.Directories)
		if got := r.Ours(c.ask); got != c.want || r.Assumed() != c.assumed {
			t.Errorf("%+v: %v, assumed %q", c, got, r.Assumed())
		}
	}
	// An OCI repository that is not in the tree holds the only directory with all paths.
	oci := func(namespace string, paths ...string) (all []Naming) {
		for _, name := range paths {
			all = append(all, Naming{Repository{Kind: ociRepository, Namespace: namespace, Name: "x"}, name, "f.yaml"})
		}
		return all
	}
	for _, c := range []struct {
		named   []Naming
		objects string
		want    string
	}{
		{oci("f", "apps/a", "apps/b"), "", "map[OCIRepository f/x:k]"},
		{oci("f", "k/apps/a", "k/apps/b", "", "."), "", "map[OCIRepository f/x:.]"},
		{slices.Concat(oci("f", "apps/a", "apps/b"), oci("", "apps/a")), "", "map[OCIRepository f/x:k]"},
		{oci("f", "apps/a", "apps/a"), "", "map[]"},
		{oci("f", "apps/a", "apps/b", "apps/gone"), "", "map[]"},
		{oci("f", "a", "b"), "", "map[]"}, // in several directories
		{oci("f", "apps/a", "apps/b"), "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: x, namespace: f}\nspec: {url: 'oci://h/x'}\n", "map[]"},
	} {
		r := NewRepositories(nil, c.named, objectsOf(c.objects), fakeTree{"k/apps/a/x": "", "k/apps/b/x": "", "other/a/x": "", "other/b/x": ""}.Directories)
		if got := fmt.Sprint(r.Published()); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := Masked("https://user:secret@h/o/r"); strings.Contains(got, "secret") {
		t.Error(got)
	}
}

// TestNamings checks which repositories and directories pointers name.
func TestNamings(t *testing.T) {
	for text, want := range map[string]string{
		kustomizationHead + "  path: ./a/b/\n  sourceRef: {kind: GitRepository, name: x}\n":                                                                                           "[GitRepository x a/b p.yaml]",
		kustomizationHead + "  path: '${x}'\n  sourceRef: {kind: GitRepository, name: x}\n":                                                                                           "[GitRepository x  p.yaml]",
		kustomizationHead + "  path: a\n  sourceRef: {kind: Bucket, name: x}\n":                                                                                                       "",
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {chart: {spec: {chart: c, sourceRef: {kind: GitRepository, name: x, namespace: n}}}}\n": "[GitRepository n/x c p.yaml]",
		applicationHead + "  sources: [{repoURL: https://h/o/r, path: a}, {repoURL: https://h/c, chart: redis}]\n":                                                                    "[https://h/o/r a p.yaml]",
		"apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: a, namespace: n}\nspec: {sources: [{alias: r, kind: OCIRepository, name: x}, {alias: c, kind: HelmChart, name: y}], artifacts: [{copy: [{from: '@r/a/b/'}, {from: '@r/a/{x}/**'}, {from: '@r/a/f.yaml'}, {from: '@r/**'}, {from: '@c/a/'}, {from: '@gone/a/'}]}]}\n": "[OCIRepository n/x a/b p.yaml][OCIRepository n/x a p.yaml][OCIRepository n/x a p.yaml][OCIRepository n/x . p.yaml]",
		applicationSetHead + "  generators: [{git: {repoURL: https://h/g}}]\n" + setTemplate: "[https://h/g . p.yaml][https://h/o/r  p.yaml]",
	} {
		got := ""
		for _, n := range Namings(objectsOf(text)[0]) {
			got += fmt.Sprintf("[%s%s %s %s]", n.Repository, n.Repository.URL, n.Path, n.File)
		}
		if got != want {
			t.Errorf("%s\n%s\nwant\n%s", text, got, want)
		}
	}
}

// FuzzRead reads arbitrary objects.
func FuzzRead(f *testing.F) {
	for _, text := range []string{kustomizationHead + "  path: a\n", applicationHead + "  source: {path: a}\n", applicationSetHead + "  generators: [{list: {elements: [{a: b}]}}]\n" + setTemplate} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &Reader{Repositories: NewRepositories(nil, nil, nil, nil), Tree: fakeTree{"a/b.yaml": text}}
		for _, o := range objectsOf(text) {
			for _, p := range r.Read(o) {
				for _, s := range p.Sources {
					if _, ok := within(s.Path); !ok && !s.Why.Some() {
						t.Errorf("leads out: %q", s.Path)
					}
				}
			}
		}
	})
}
