package kustomize

import (
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// kustomization is the kustomization of a directory.
type kustomization struct {
	dir  string
	root *source.Node
	// below lists the files and directories that it names, from the root.
	below []string
	// renames is set if it changes names, so that patches further out may use names that no file
	// has.
	renames bool
}

// tree holds the kustomizations of everything that was read, by directory.
type tree struct {
	files map[string]*source.File
	dirs  map[string]*kustomization
	steps int
}

// maxSteps bounds how far references between kustomizations are followed: the number of paths
// through a few directories can be exponential.
const maxSteps = 200_000

func newTree(set *source.Set) *tree {
	t := &tree{files: map[string]*source.File{}, dirs: map[string]*kustomization{}}
	isKustomization := func(f *source.File) bool { return source.IsKustomizationFile(path.Base(f.Name)) }
	if !slices.ContainsFunc(set.Files, isKustomization) {
		return t
	}
	for _, f := range set.Files {
		t.files[f.Name] = f
	}
	for _, f := range set.Files {
		if !isKustomization(f) {
			continue
		}
		for _, root := range f.Roots() {
			if kind := root.Get("kind").Text(); root.Kind == source.Map && (kind == "" || kind == "Kustomization" || kind == "Component") {
				t.dirs[path.Dir(f.Name)] = t.kustomization(path.Dir(f.Name), root)
			}
		}
	}
	return t
}

func (t *tree) kustomization(dir string, root *source.Node) *kustomization {
	k := &kustomization{dir: dir, root: root, renames: root.Get("namePrefix") != nil || root.Get("nameSuffix") != nil}
	for _, field := range []string{"resources", "bases", "components"} {
		for _, item := range root.Get(field).Items() {
			if item.Text() != "" {
				k.below = append(k.below, path.Join(dir, item.Text()))
			}
		}
	}
	return k
}

// reached is a file that a kustomization reaches. Its names may have changed by then.
type reached struct {
	file    string
	renamed bool
}

// reach visits the files that a kustomization reaches, each once. It returns false if there are too
// many to follow.
func (t *tree) reach(k *kustomization, visit func(reached)) bool {
	seen := map[string]bool{}
	var in func(k *kustomization, renamed bool) bool
	in = func(k *kustomization, renamed bool) bool {
		for _, name := range k.below {
			if t.steps++; t.steps > maxSteps {
				return false
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			if next := t.dirs[name]; next != nil {
				if !in(next, renamed || next.renames) {
					return false
				}
			} else if t.files[name] != nil {
				visit(reached{name, renamed})
			}
		}
		return true
	}
	return in(k, false)
}

// roots returns the documents of a file, or none if it was not read.
func (t *tree) roots(name string) []*source.Node {
	f := t.files[name]
	if f == nil {
		return nil
	}
	return f.Roots()
}

// sorted returns the kustomizations by directory.
func (t *tree) sorted() []*kustomization {
	var all []*kustomization
	for _, k := range t.dirs {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *kustomization) int { return strings.Compare(a.dir, b.dir) })
	return all
}
