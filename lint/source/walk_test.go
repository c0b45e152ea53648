package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plant creates a tree of files. A value that begins with -> is the target of a symbolic link.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// seen lists the files of a Set, as name or, if the two differ, name = display. It also lists the
// reasons why other files were not read.
func seen(set *Set) []string {
	var all []string
	for _, f := range set.Files {
		text := f.Name
		if f.Display != f.Name {
			text += " = " + f.Display
		}
		for _, p := range set.Problems {
			if p.Span.File == f.Name {
				text += ": " + p.Detail
			}
		}
		all = append(all, text)
	}
	return all
}

// forest creates a repository with all kinds of links, and a directory next to it.
func forest(t *testing.T) string {
	return plant(t, map[string]string{
		"repo/a.yaml":              pod,
		"repo/b.yml":               pod,
		"repo/c.json":              "{}",
		"repo/d.txt":               pod,
		"repo/e.YAML":              pod,
		"repo/manifest":            pod,
		"repo/.hidden/x.yaml":      pod,
		"repo/.config.yaml":        "a: 1",
		"repo/sub/f.yaml":          pod,
		"repo/sub/deep/g.yaml":     pod,
		"repo/links/file.yaml":     "->../a.yaml",
		"repo/links/text.txt":      "->../a.yaml",
		"repo/links/of-text.yaml":  "->../d.txt",
		"repo/links/dir":           "->../sub",
		"repo/links/here":          "->.",
		"repo/loop/up":             "->..",
		"repo/links/out":           "->../../beside",
		"repo/links/out.yaml":      "->../../beside/h.yaml",
		"repo/links/out.txt":       "->../../beside/h.yaml",
		"repo/links/nowhere.yaml":  "->nothing.yaml",
		"repo/links/nowhere":       "->nothing",
		"repo/links/self.yaml":     "->self.yaml",
		"repo/links/.hidden.yaml":  "->../../beside/h.yaml",
		"repo/ring/one/to-two":     "->../two",
		"repo/ring/two/to-one":     "->../one",
		"repo/ring/one/i.yaml":     pod,
		"repo/ring/two/j.yaml":     pod,
		"beside/h.yaml":            pod,
		"beside/k/l.yaml":          pod,
		"beside/k/link-to-h.yaml":  "->../h.yaml",
		"beside/link-to-repo.yaml": "->../repo/a.yaml",
	})
}

// walks maps paths in the forest to the files that are read.
var walks = map[string]struct {
	paths, want []string
	ignore      string
}{
	"a directory":           {paths: []string{"sub"}, want: []string{"sub/deep/g.yaml", "sub/f.yaml"}},
	"written otherwise":     {paths: []string{"./sub/"}, want: []string{"sub/deep/g.yaml = ./sub/deep/g.yaml", "sub/f.yaml = ./sub/f.yaml"}},
	"a file":                {paths: []string{"a.yaml"}, want: []string{"a.yaml"}},
	"any extension":         {paths: []string{"d.txt", "manifest"}, want: []string{"d.txt", "manifest"}},
	"hidden, but named":     {paths: []string{".hidden"}, want: []string{".hidden/x.yaml"}},
	"twice":                 {paths: []string{"a.yaml", "./a.yaml", "a.yaml", "sub", "sub/f.yaml", "sub/deep"}, want: []string{"a.yaml", "sub/deep/g.yaml", "sub/f.yaml"}},
	"beside the root":       {paths: []string{"../beside/k"}, want: []string{"../beside/k/l.yaml", "../beside/k/link-to-h.yaml: " + leadsOut}},
	"beside, links within":  {paths: []string{"../beside"}, want: []string{"../beside/h.yaml", "../beside/k/l.yaml", "../beside/link-to-repo.yaml: " + leadsOut}},
	"a link, named":         {paths: []string{"links/dir"}, want: []string{"sub/deep/g.yaml = links/dir/deep/g.yaml", "sub/f.yaml = links/dir/f.yaml"}},
	"a link and its target": {paths: []string{"links/dir", "sub"}, want: []string{"sub/deep/g.yaml", "sub/f.yaml"}},
	"a link out, named":     {paths: []string{"links/out.yaml"}, want: []string{"links/out.yaml: " + leadsOut}},
	"links in a ring":       {paths: []string{"ring"}, want: []string{"ring/one/i.yaml", "ring/two/j.yaml"}},
	"ignored":               {paths: []string{"sub", "a.yaml"}, ignore: "sub/deep", want: []string{"a.yaml", "sub/f.yaml"}},
	"ignored, though said":  {paths: []string{"sub/f.yaml", "a.yaml"}, ignore: "sub", want: []string{"a.yaml"}},
	"links": {paths: []string{"links"}, want: []string{
		"a.yaml = links/file.yaml", "d.txt = links/of-text.yaml", "links/nowhere.yaml: " + leadsAstray,
		"links/out: " + leadsOut, "links/out.yaml: " + leadsOut, "links/self.yaml: " + leadsAstray,
		"sub/deep/g.yaml = links/dir/deep/g.yaml", "sub/f.yaml = links/dir/f.yaml",
	}},
	"links of everything": {paths: []string{"."}, ignore: "ring", want: []string{
		".config.yaml", "a.yaml", "b.yml", "c.json", "d.txt = links/of-text.yaml", "e.YAML",
		"links/nowhere.yaml: " + leadsAstray, "links/out: " + leadsOut, "links/out.yaml: " + leadsOut,
		"links/self.yaml: " + leadsAstray, "sub/deep/g.yaml", "sub/f.yaml",
	}},
	"everything": {paths: []string{"."}, ignore: "links", want: []string{
		".config.yaml", "a.yaml", "b.yml", "c.json", "e.YAML", "ring/one/i.yaml", "ring/two/j.yaml", "sub/deep/g.yaml", "sub/f.yaml",
	}},
}

func TestWalk(t *testing.T) {
	dir := forest(t)
	for name, row := range walks {
		t.Run(name, func(t *testing.T) {
			opts := Options{Dir: filepath.Join(dir, "repo"), Root: filepath.Join(dir, "repo")}
			if row.ignore != "" {
				opts.Ignore = func(name string) bool { return name == row.ignore || strings.HasPrefix(name, row.ignore+"/") }
			}
			for range 2 {
				set, err := Load(opts, row.paths)
				if err != nil {
					t.Fatal(err)
				}
				if got := seen(set); !slices.Equal(got, row.want) {
					t.Errorf("%q\n got %s\nwant %s", row.paths, strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
				}
				slices.Reverse(row.paths)
			}
		})
	}
}

// TestTracked checks that tracked files are read under their own names rather than those of links
// to them. A link is followed only if it is tracked itself.
func TestTracked(t *testing.T) {
	dir := forest(t)
	repo := filepath.Join(dir, "repo")
	tracked := func(names ...string) func(string) bool {
		return func(path string) bool {
			rel, err := filepath.Rel(repo, path)
			return err == nil && slices.ContainsFunc(names, func(n string) bool { return n == rel || strings.HasPrefix(n, rel+"/") })
		}
	}
	for name, row := range map[string]struct{ paths, tracked, want, left []string }{
		"some":          {paths: []string{"sub", "a.yaml", "b.yml"}, tracked: []string{"sub/f.yaml", "b.yml"}, want: []string{"b.yml", "sub/f.yaml"}, left: []string{"a.yaml", "sub/deep/g.yaml"}},
		"all":           {paths: []string{"sub"}, tracked: []string{"sub/f.yaml", "sub/deep/g.yaml"}, want: []string{"sub/deep/g.yaml", "sub/f.yaml"}},
		"links":         {paths: []string{"links"}, tracked: []string{"sub/f.yaml", "a.yaml", "links/dir", "links/out"}, want: []string{"links/out: " + leadsOut, "sub/f.yaml = links/dir/f.yaml"}, left: []string{"links/file.yaml", "links/nowhere.yaml", "links/of-text.yaml", "links/out.yaml", "links/self.yaml", "sub/deep/g.yaml"}},
		"links, named":  {paths: []string{"links/dir", "links/out.yaml"}, tracked: []string{"sub/f.yaml"}, want: []string{"sub/f.yaml = links/dir/f.yaml"}, left: []string{"links/out.yaml", "sub/deep/g.yaml"}},
		"outside":       {paths: []string{"../beside/k"}, left: []string{"../beside/k/l.yaml", "../beside/k/link-to-h.yaml"}},
		"nothing there": {paths: []string{"sub"}, left: []string{"sub/deep/g.yaml", "sub/f.yaml"}},
	} {
		set, err := Load(Options{Dir: repo, Root: repo, Tracked: tracked(row.tracked...)}, row.paths)
		if err != nil {
			t.Fatal(err)
		}
		if got := seen(set); !slices.Equal(got, row.want) || !slices.Equal(set.Untracked, row.left) {
			t.Errorf("%s: read %q, left out %q", name, got, set.Untracked)
		}
	}
}

func TestWalkErrors(t *testing.T) {
	dir := plant(t, map[string]string{"a.yaml": pod, "self.yaml": "->self.yaml", "nowhere.yaml": "->nothing"})
	for path, want := range map[string]string{
		"b.yaml":       `reading "b.yaml": no such file or directory`,
		"nowhere.yaml": `reading "nowhere.yaml": no such file or directory`,
		"self.yaml":    `reading "self.yaml": too many levels of symbolic links`,
		"a.yaml/x":     `reading "a.yaml/x": not a directory`,
	} {
		set, err := Load(Options{Dir: dir, Root: dir}, []string{path, "a.yaml"})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
		if len(set.Objects) != 1 {
			t.Errorf("%s hides the other file", path)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := plant(t, map[string]string{"bad.yaml": "a: 1\nb: \xff\n", "big.yaml": strings.Repeat("a", 2<<20), "null.yaml": "a: \x00", "good.yaml": pod})
	if err := os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	set, err := Load(Options{Dir: dir, Root: dir, MaxBytes: 1 << 20}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bad.yaml: is not UTF-8 text", "big.yaml: is larger than 1 MiB", "good.yaml", "null.yaml: is not UTF-8 text"}
	if got := seen(set); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if line := set.Problems[0].Span.Line; line != 2 {
		t.Errorf("bad text on line %d, want 2", line)
	}
}

func TestStandardInput(t *testing.T) {
	dir := plant(t, map[string]string{"a.yaml": pod})
	set, err := Load(Options{Dir: dir, Root: dir, Stdin: strings.NewReader(pod)}, []string{"a.yaml", "-", "-"})
	if err != nil || !slices.Equal(seen(set), []string{StdinName, "a.yaml"}) || len(set.Objects) != 2 {
		t.Errorf("got %q, %v", seen(set), err)
	}
}

// TestPatchesOfKustomizations checks that exactly the files that a kustomization uses as patches
// are dropped.
func TestPatchesOfKustomizations(t *testing.T) {
	dir := plant(t, map[string]string{
		"base/kustomization.yaml":    "resources: [deploy.yaml, other.yaml]\n",
		"base/deploy.yaml":           pod,
		"base/other.yaml":            pod,
		"overlay/kustomization.yaml": "resources: [../base]\npatches:\n- path: one.yaml\n- path: ./sub/../two.yaml\n  target: {kind: Pod}\n- patch: |-\n    kind: Pod\n- ../shared/three.yaml\npatchesStrategicMerge:\n- four.yaml\n- |-\n  kind: Pod\npatchesJson6902:\n- path: five.yaml\n  target: {kind: Pod}\n- path: six.json\n",
		"overlay/one.yaml":           pod,
		"overlay/two.yaml":           pod + "---\n" + pod,
		"shared/three.yaml":          pod,
		"overlay/four.yaml":          pod,
		"overlay/five.yaml":          "- {op: add, path: /x, value: 1}\n",
		"overlay/six.json":           `[{"op": "add", "path": "/x", "value": 1}]`,
		"overlay/seven.yaml":         pod,
	})
	set, err := Load(Options{Dir: dir, Root: dir}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range set.Objects {
		got = append(got, o.File.Name)
	}
	for _, s := range set.Skipped {
		got = append(got, s.File+": "+s.Reason)
	}
	want := []string{
		"base/deploy.yaml", "base/other.yaml", "overlay/seven.yaml",
		"base/kustomization.yaml: kustomization file", "overlay/five.yaml: JSON patch", "overlay/four.yaml: strategic-merge patch",
		"overlay/kustomization.yaml: kustomization file", "overlay/one.yaml: strategic-merge patch", "overlay/six.json: JSON patch",
		"overlay/two.yaml: strategic-merge patch", "overlay/two.yaml: strategic-merge patch", "shared/three.yaml: strategic-merge patch",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}
