package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// said returns the whole content of a tree with positions.
func said(n *Node) string {
	var b strings.Builder
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		fmt.Fprintf(&b, "%*s%d:%d %v %v %v %q\n", 2*depth, "", n.Line, n.Column, n.Kind, n.Type, n.Quoted, n.Value)
		for _, c := range n.content() {
			walk(c, depth+1)
		}
	}
	walk(n, 0)
	return b.String()
}

// pathsOf returns the path to each position of a tree, looked up in another tree.
func pathsOf(root, of *Node) string {
	var b strings.Builder
	var walk func(n *Node)
	walk = func(n *Node) {
		fmt.Fprintf(&b, "%d:%d %s\n", n.Line, n.Column, root.Places().Path(int(n.Line), int(n.Column)))
		for _, c := range n.content() {
			walk(c)
		}
	}
	if of.nodes() < 500 { // each lookup is a walk
		walk(of)
	}
	return b.String()
}

// nodes counts n and its descendants.
func (n *Node) nodes() (sum int) {
	for _, c := range n.content() {
		sum += 1 + c.nodes()
	}
	return sum
}

func loadTree(t *testing.T, dir string) []*Object {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Load(Options{Dir: dir, Root: dir, Keep: func(_, kind string) bool { return kind != "Service" }}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return set.Objects
}

// FuzzFold checks that folded objects have the same content as before.
func FuzzFold(f *testing.F) { fuzzed(f, fuzzFold) }

func fuzzFold(t *testing.T, text []byte) {
	opts := Options{Keep: func(_, kind string) bool { return kind != "Service" }, Drop: func(field string) bool { return field == "data" }}
	opts.shelf = newShelf(opts.Keep, opts.Drop)
	r := result{file: NewFile("a.yaml", "a.yaml", text)}
	r.parse(opts)
	for _, o := range r.objects {
		root, want := o.Root, said(o.Root)
		o.Fold(&Kept{Names: []string{"metadata"}, Through: "spec"})
		if got := said(o.Root); got != want {
			t.Errorf("%q: read again it is\n%s\nnot\n%s", text, got, want)
		}
		if want, got := pathsOf(root, root), pathsOf(o.Root, root); got != want {
			t.Errorf("%q: its paths are then\n%s\nnot\n%s", text, got, want)
		}
	}
}

// folds loads the files below dir, folds every object, and checks that its content stays the same.
func folds(t *testing.T, dir string) (folded int) {
	t.Helper()
	kept := &Kept{Names: []string{"metadata", "strategy", "affinity"}, Through: "spec"}
	for _, o := range loadTree(t, dir) {
		want, size, span := said(o.Root), o.Size(), o.NameSpan()
		spec := o.Root.Get("spec")
		inSpec := said(spec.orNull())
		before := o.Root
		o.Fold(kept)
		spec = o.Folded(spec)
		if o.Root != before {
			folded++
		}
		if got := said(o.Root); got != want {
			t.Errorf("%s: read again it is\n%s\nnot\n%s", o.File.Name, got, want)
		}
		if want, got := pathsOf(before, before), pathsOf(o.Root, before); got != want {
			t.Errorf("%s: its paths are then\n%s\nnot\n%s", o.File.Name, got, want)
		}
		if got := said(spec.orNull()); got != inSpec {
			t.Errorf("%s: spec, read again, is\n%s\nnot\n%s", o.File.Name, got, inSpec)
		}
		if o.Size() != size || o.NameSpan() != span {
			t.Errorf("%s: size %d, not %d; name at %v, not %v", o.File.Name, o.Size(), size, o.NameSpan(), span)
		}
	}
	return folded
}

func (n *Node) orNull() *Node {
	if n == nil {
		return &Node{Type: Null}
	}
	return n
}

func TestFixturesFold(t *testing.T) {
	if n := folds(t, "../../fixtures"); n < 200 {
		t.Errorf("%d objects can be read again", n)
	}
}

const deployments = `# two of them
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: {app: a}}
spec:
  paused: true
  strategy:
    type: Recreate
  template:
    spec:
      affinity: {}
      containers: [{name: main, image: x}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  template: {spec: {containers: [{name: other, image: y}]}}
`

func objectsOf(t *testing.T, text string) []*Object {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return loadTree(t, dir)
}

// TestWhatIsKeptIsNotReadAgain checks that looking up kept fields, or fields known to be missing,
// does not parse the document again, and that looking up others does.
func TestWhatIsKeptIsNotReadAgain(t *testing.T) {
	o := objectsOf(t, deployments)[0]
	o.Fold(&Kept{Names: []string{"metadata", "strategy", "nodeSelector"}, Through: "spec"})
	opened := func() bool { return o.text.shelf.next > 0 }
	if name := o.Root.At("metadata", "name").Text(); name != "a" || o.Root.At("spec", "strategy", "type").Text() != "Recreate" || o.Root.At("spec", "nodeSelector") != nil || opened() {
		t.Errorf("name %q, read again: %v", name, opened())
	}
	if on, _ := o.Root.At("spec", "paused").Bool(); !on || !opened() {
		t.Errorf("paused %v, read again: %v", on, opened())
	}
}

// TestNotFolded checks that an object is not folded if it is not a whole document or differs from
// its text.
func TestNotFolded(t *testing.T) {
	for what, text := range map[string]string{
		"an anchor":         "apiVersion: v1\nkind: Pod\nmetadata: {name: &x a}\nspec: {nodeName: *x}\n",
		"an item of a List": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {nodeName: b}\n",
		"a repeated key":    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: b, nodeName: c}\n",
		"a long document":   "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: b}\n#" + strings.Repeat("x", maxFolded) + "\n",
		"JSON":              `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"nodeName": "b"}}`,
	} {
		for _, o := range objectsOf(t, text) {
			before := o.Root
			if o.Fold(&Kept{}); o.Root != before {
				t.Errorf("%s is let go", what)
			}
		}
	}
	o := *objectsOf(t, deployments)[0]
	o.Root = o.Root.Replace("spec", o.Root.Get("spec").Variable())
	if o.Fold(&Kept{}); !o.Root.Get("spec").Placeholder() {
		t.Error("a changed copy is read from the text")
	}
}

// TestFoldedBySeveral reads folded objects from several goroutines at once.
func TestFoldedBySeveral(t *testing.T) {
	objects := objectsOf(t, strings.Repeat(deployments+"---\n", 20))
	for _, o := range objects {
		o.Fold(&Kept{})
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i, o := range objects {
				name := [...]string{"main", "other"}[i%2]
				if got := o.Root.At("spec", "template", "spec", "containers").Items()[0].Get("name").Text(); got != name {
					t.Errorf("container %q, not %q", got, name)
				}
			}
		})
	}
	group.Wait()
}

// TestKeptPathReadsNothing checks that looking up the paths of kept fields does not parse the
// document again.
func TestKeptPathReadsNothing(t *testing.T) {
	opts := Options{Keep: func(string, string) bool { return true }, Drop: func(string) bool { return false }}
	opts.shelf = newShelf(opts.Keep, opts.Drop)
	r := result{file: NewFile("a.yaml", "a.yaml", []byte("kind: A\napiVersion: v1\nmetadata: {name: a}\nspec:\n  other: 1\n  replicas: 2\n"))}
	r.parse(opts)
	o := r.objects[0]
	o.Fold(&Kept{Names: []string{"metadata", "replicas"}, Through: "spec"})
	for at, want := range map[[2]int]string{{3, 12}: "metadata.name", {6, 3}: "spec.replicas"} {
		if got := o.Root.Places().Path(at[0], at[1]).String(); got != want {
			t.Errorf("%v: %q, not %q", at, got, want)
		}
	}
	if opts.shelf.next != 0 {
		t.Error("the document was read again")
	}
	if got := o.Root.Places().Path(5, 3).String(); got != "spec.other" || opts.shelf.next == 0 {
		t.Errorf("what is not kept is at %q", got)
	}
}
