package kustomize

import (
	"maps"
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
				k := &kustomization{dir: path.Dir(f.Name), root: root, renames: root.Get("namePrefix") != nil || root.Get("nameSuffix") != nil}
				for _, field := range []string{"resources", "bases", "components"} {
					for _, item := range root.Get(field).Items() {
						if item.Text() != "" {
							k.below = append(k.below, path.Join(k.dir, item.Text()))
						}
					}
				}
				t.dirs[k.dir] = k
			}
		}
	}
	return t
}

// reach visits the files that a kustomization reaches, each once, and says whether their names may
// have changed by then. It returns false if there are too many to follow.
func (t *tree) reach(k *kustomization, visit func(file string, renamed bool)) bool {
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
				visit(name, renamed)
			}
		}
		return true
	}
	return in(k, false)
}

// sorted returns the kustomizations by directory.
func (t *tree) sorted() []*kustomization {
	return slices.SortedFunc(maps.Values(t.dirs), func(a, b *kustomization) int { return strings.Compare(a.dir, b.dir) })
}
