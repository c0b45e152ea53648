package contexts

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/source"
)

// read writes files and reads them as objects. Each word "name=content" in a file becomes an
// object with its content as a label.
func read(t *testing.T, files map[string]string) []*source.Object {
	t.Helper()
	dir := t.TempDir()
	for name, words := range files {
		var b strings.Builder
		for word := range strings.FieldsSeq(words) {
			object, content, _ := strings.Cut(word, "=")
			fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {is: %q}}\n", object, content)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Load(source.Options{Dir: dir, Root: dir, Stdin: io.LimitReader(nil, 0)}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return set.Objects
}

func all(*source.Object) bool { return true }

// text formats a context as one line with its objects, shared ones in brackets. After a bar it
// lists the objects that are only elsewhere, with each distinct content.
func text(c *Context) string {
	word := func(o *source.Object) string {
		w := o.Name + "=" + o.Root.At("metadata", "labels", "is").Value
		if c.Shared[o] {
			w = "[" + w + "]"
		}
		return w
	}
	in, out := map[string]bool{}, map[string]bool{}
	for _, o := range c.Objects {
		in[word(o)] = true
	}
	for _, o := range c.Elsewhere() {
		out[word(o)] = true
	}
	line := c.Name + ": " + strings.Join(slices.Sorted(maps.Keys(in)), " ")
	if len(out) > 0 {
		line += " | " + strings.Join(slices.Sorted(maps.Keys(out)), " ")
	}
	return line
}

func texts(d Division) []string {
	var lines []string
	for c := range d.Contexts() {
		lines = append(lines, text(&c))
	}
	return lines
}

func TestSplit(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"no alternatives": {
			map[string]string{"a/x.yaml": "web=1 db=1", "b/x.yaml": "api=1"},
			[]string{": api=1 db=1 web=1"},
		},
		"equal declarations are no alternatives": {
			map[string]string{"a/x.yaml": "web=1 db=1", "b/x.yaml": "web=1 api=1"},
			[]string{": api=1 db=1 web=1"},
		},
		"directories": {
			map[string]string{"prod/x.yaml": "web=1 db=1", "staging/x.yaml": "web=2 cache=1", "shared.yaml": "log=1"},
			[]string{"prod: db=1 log=1 web=1 | cache=1", "staging: cache=1 log=1 web=2 | db=1"},
		},
		"files": {
			map[string]string{"d/one.yaml": "web=1", "d/two.yaml": "web=2", "d/three.yaml": "log=1"},
			[]string{"d/one.yaml: log=1 web=1", "d/two.yaml: log=1 web=2"},
		},
		"only the lowest common directory is split": {
			map[string]string{"a/b/prod/x.yaml": "web=1", "a/b/staging/x.yaml": "web=2", "a/c/x.yaml": "log=1"},
			[]string{"a/b/prod: log=1 web=1", "a/b/staging: log=1 web=2"},
		},
		"the last declaration of a file counts": {
			map[string]string{"a.yaml": "web=1 web=2", "b.yaml": "web=2"},
			[]string{": web=1 web=2"},
		},
		"a set within a branch": {
			map[string]string{"base/x.yaml": "web=0", "overlays/prod/x.yaml": "web=1", "overlays/staging/x.yaml": "web=2", "overlays/all.yaml": "log=1"},
			[]string{"base: web=0 | log=1", "overlays/prod: log=1 web=1", "overlays/staging: log=1 web=2"},
		},
		"of another set counts what all its branches declare equally": {
			map[string]string{
				"apps/prod/x.yaml": "web=1", "apps/staging/x.yaml": "web=2",
				"infra/one/x.yaml": "dns=1 lb=1 tls=1", "infra/two/x.yaml": "dns=2 lb=1",
			},
			[]string{
				"apps/prod: [lb=1] web=1 | dns=1 dns=2 tls=1", "apps/staging: [lb=1] web=2 | dns=1 dns=2 tls=1",
				"infra/one: dns=1 lb=1 tls=1 | web=1 web=2", "infra/two: dns=2 lb=1 | tls=1 web=1 web=2",
			},
		},
		"three ways, two of them equal": {
			map[string]string{"a/x.yaml": "web=1", "b/x.yaml": "web=1 db=1", "c/x.yaml": "web=2"},
			[]string{"a: web=1 | db=1", "b: db=1 web=1", "c: web=2 | db=1"},
		},
		"sets of one directory that share a branch are one": {
			map[string]string{"a/x.yaml": "web=1", "b/x.yaml": "web=2 api=1", "c/x.yaml": "api=2"},
			[]string{"a: web=1 | api=1 api=2", "b: api=1 web=2", "c: api=2 | web=1 web=2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(Split(read(t, test.files), all, nil)); !slices.Equal(got, test.want) {
				t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestOutputs checks that outputs of one chart are alternatives, no matter what they declare.
func TestOutputs(t *testing.T) {
	objects := read(t, map[string]string{
		"golden/a.yaml": "web=1 db=1", "golden/b.yaml": "api=1", "golden/note.yaml": "log=1",
		"out/x/web.yaml": "one=1", "out/x/pdb.yaml": "two=1", "out/y/web.yaml": "three=1", "top.yaml": "dns=1",
	})
	outputs := func(f *source.File) []Output {
		switch {
		case strings.HasPrefix(f.Name, "golden/") && f.Name != "golden/note.yaml":
			return []Output{{"shop", f.Name}}
		case strings.HasPrefix(f.Name, "out/"):
			return []Output{{"db", filepath.Dir(f.Name)}}
		}
		return nil
	}
	want := []string{
		"golden/a.yaml: db=1 dns=1 log=1 web=1 | api=1 one=1 three=1 two=1", "golden/b.yaml: api=1 dns=1 log=1 | db=1 one=1 three=1 two=1 web=1",
		"out/x: dns=1 log=1 one=1 two=1 | api=1 db=1 three=1 web=1", "out/y: dns=1 log=1 three=1 | api=1 db=1 one=1 two=1 web=1",
	}
	if got := texts(Split(objects, all, outputs)); !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBranch(t *testing.T) {
	d := Split(read(t, map[string]string{"base/x.yaml": "web=0", "overlays/prod/x.yaml": "web=1", "overlays/staging/x.yaml": "web=2", "overlays/all.yaml": "log=1", "top.yaml": "dns=1"}), all, nil)
	for file, want := range map[string]string{"overlays/prod/x.yaml": "prod", "overlays/all.yaml": "overlays", "base/x.yaml": "base", "top.yaml": "", "elsewhere.yaml": ""} {
		if got := d.Branch(file); got != want {
			t.Errorf("branch of %s: %q, want %q", file, got, want)
		}
	}
}

// TestSplitRandom checks the contract of Split on random trees. No context declares an object
// differently in two files, every object is in some context, there are no more contexts than
// branches, and an object that a context neither holds nor declares differently is in Elsewhere.
func TestSplitRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	dirs := []string{"", "a/", "b/", "a/p/", "a/q/", "b/p/", "b/q/", "a/p/s/", "a/p/t/"}
	for range trials.AtLeast(t, 200, 100) {
		files := map[string]string{}
		for range 2 + r.IntN(6) {
			var words []string
			for range 1 + r.IntN(3) {
				words = append(words, fmt.Sprintf("%c=%d", 'w'+rune(r.IntN(3)), r.IntN(2)))
			}
			files[dirs[r.IntN(len(dirs))]+string('x'+rune(r.IntN(2)))+".yaml"] = strings.Join(words, " ")
		}
		objects := read(t, files)
		d := Split(objects, all, nil)
		covered := map[*source.Object]bool{}
		for each := range d.Contexts() {
			c := &each
			check(t, files, objects, c)
			for _, o := range c.Objects {
				covered[o] = true
			}
		}
		if len(covered) != len(objects) {
			t.Errorf("%v: %d of %d objects are in a context", files, len(covered), len(objects))
		}
		if d.Len() > max(1, len(files)) {
			t.Errorf("%v: %d contexts", files, d.Len())
		}
	}
}

func check(t *testing.T, files map[string]string, objects []*source.Object, c *Context) {
	t.Helper()
	counts := map[string]map[string]string{} // the last content, by name and file
	for _, o := range c.Objects {
		if counts[o.Name] == nil {
			counts[o.Name] = map[string]string{}
		}
		counts[o.Name][o.File.Name] = o.Root.At("metadata", "labels", "is").Value
	}
	for name, by := range counts {
		if all := slices.Compact(slices.Sorted(maps.Values(by))); len(all) > 1 {
			t.Errorf("%v: context %q declares %s in %d ways: %v", files, c.Name, name, len(all), by)
		}
	}
	for _, o := range objects {
		in, out := slices.Contains(c.Objects, o), slices.Contains(c.Elsewhere(), o)
		if want := !in && counts[o.Name] == nil; out != want {
			t.Errorf("%v: context %q: %s of %s elsewhere: %v, want %v", files, c.Name, o.Name, o.File.Name, out, want)
		}
	}
}
