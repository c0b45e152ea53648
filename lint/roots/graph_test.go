package roots

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// graph returns a tree of n kustomizations with random references.
func graph(t *testing.T, random *rand.Rand, n int) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := "kind: " + []string{"Kustomization", "Kustomization", "Component"}[random.IntN(3)] + "\n"
		for _, field := range []string{"resources", "components"} {
			var to []string
			for range random.IntN(3) {
				if random.IntN(2) == 0 {
					to = append(to, fmt.Sprintf("../k%02d", random.IntN(n)))
				}
			}
			text += field + ": [" + strings.Join(to, ", ") + "]\n"
		}
		dir := filepath.Join(root, fmt.Sprintf("k%02d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// reach returns the start and all kustomizations that can be reached from it. It does not use the
// algorithm of the package.
func reach(byDir map[string]*Kustomization, from string, seen map[string]bool) {
	if seen[from] {
		return
	}
	seen[from] = true
	for _, dir := range byDir[from].Dirs {
		reach(byDir, dir, seen)
	}
}

// TestRoots checks the roots of random graphs against the contract of the package.
func TestRoots(t *testing.T) {
	t.Parallel()
	all := uint64(150)
	if trials.Few(t) {
		all = 30
	}
	for seed := range all {
		random := rand.New(rand.NewPCG(seed, 1))
		root := graph(t, random, 1+random.IntN(14))
		f, err := Find(Options{Root: root, Paths: []string{root}})
		if err != nil {
			t.Fatal(err)
		}
		byDir, reached, isRoot := map[string]*Kustomization{}, map[string]bool{}, map[string]bool{}
		for _, k := range f.Kustomizations {
			byDir[k.Dir] = k
		}
		for _, k := range f.Roots {
			isRoot[k.Dir] = true
			if k.Component {
				t.Errorf("seed %d: the Component %s is a root", seed, k.Dir)
			}
			reach(byDir, k.Dir, reached)
		}
		for dir, k := range byDir {
			if !reached[dir] && !k.Component {
				t.Errorf("seed %d: %s is reached from no root", seed, dir)
			}
			for _, to := range k.Dirs {
				back := map[string]bool{}
				reach(byDir, to, back)
				if isRoot[to] && reached[dir] && !back[dir] {
					t.Errorf("seed %d: %s is a root, and %s refers to it", seed, to, dir)
				}
			}
		}
		for a := range isRoot {
			other := map[string]bool{}
			reach(byDir, a, other)
			for b := range isRoot {
				if a != b && other[b] {
					t.Errorf("seed %d: the root %s reaches the root %s", seed, a, b)
				}
			}
		}
	}
}

// TestOrder checks that the order and the number of the paths do not change the result.
func TestOrder(t *testing.T) {
	root := graph(t, rand.New(rand.NewPCG(7, 7)), 12)
	var paths []string
	for i := range 12 {
		paths = append(paths, filepath.Join(root, fmt.Sprintf("k%02d", i)))
	}
	want := ""
	for range 3 {
		f, err := Find(Options{Root: root, Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(f); want != "" && got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		} else {
			want = got
		}
		slices.Reverse(paths)
		paths = append(paths, root)
	}
}

// TestDeep follows the longest possible chain of references.
func TestDeep(t *testing.T) {
	t.Parallel()
	f := &finder{dirs: map[string]*Kustomization{}}
	n := 200_000
	if trials.Few(t) {
		n = 20_000
	}
	for i := range n {
		k := &Kustomization{Dir: fmt.Sprintf("%06d", i), Dirs: []string{fmt.Sprintf("%06d", i+1)}, Below: true}
		f.dirs[k.Dir] = k
		f.found.Kustomizations = append(f.found.Kustomizations, k)
	}
	last := f.found.Kustomizations[n-1]
	last.because(Remote, "x", 1, "y")
	parts := f.parts()
	f.cycles(parts)
	f.block()
	roots := f.rootsOf(parts)
	if len(roots) != 1 || roots[0].Dir != "000000" || len(roots[0].Blocked) != 1 {
		t.Errorf("%d roots, the first is %+v", len(roots), roots[0])
	}
}
