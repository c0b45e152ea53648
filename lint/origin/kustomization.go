package origin

import (
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// kustomization is the one of a directory.
type kustomization struct {
	dir  string
	file *source.File
	root *source.Node
}

// Bounds on how far kustomizations are followed: what refers to what is
// anybody's, and ways through a few directories can be more than can be counted.
const (
	maxNested = 50
	maxWays   = 64
	maxVisits = 10_000
)

// kustomization reads the one of a directory; nil if there is none.
func (m *Mapper) kustomization(dir string) *kustomization {
	k, known := m.dirs[dir]
	if known {
		return k
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file := m.files.read(path.Join(dir, name))
		if file == nil {
			continue
		}
		if roots := m.files.documents(file); len(roots) == 1 && roots[0].Kind == source.Map {
			k = &kustomization{dir, file, roots[0]}
			break
		}
	}
	m.dirs[dir] = k
	return k
}

// waysTo are all ways from a file to what was rendered, each the kustomizations
// that it goes through, the innermost first; none if they are too many.
func (m *Mapper) waysTo(file string) [][]*kustomization {
	ways, known := m.ways[file]
	if !known {
		s := search{m: m, file: file}
		s.in(m.base, nil)
		if ways = s.found; s.visits > maxVisits || len(ways) > maxWays {
			ways = nil
		}
		m.ways[file] = ways
	}
	return ways
}

// search looks for a file in a tree of kustomizations.
type search struct {
	m      *Mapper
	file   string
	visits int
	found  [][]*kustomization
}

func (s *search) in(dir string, above []*kustomization) {
	k := s.m.kustomization(dir)
	if k == nil || slices.Contains(above, k) || len(above) >= maxNested {
		return
	}
	above = append(slices.Clip(above), k)
	for _, field := range []string{"resources", "bases", "components"} {
		for _, item := range k.root.Get(field).Items() {
			if s.visits++; s.visits > maxVisits {
				return
			}
			e := s.m.files.entry(path.Join(dir, item.Text()))
			switch {
			case item.Text() == "" || e.info == nil:
			case e.info.IsDir():
				s.in(e.name, above)
			case e.name == s.file:
				way := slices.Clone(above)
				slices.Reverse(way)
				s.found = append(s.found, way)
			}
		}
	}
}

// leadingTo are the ways on which a name becomes another.
func leadingTo(ways [][]*kustomization, name, to string) [][]*kustomization {
	var all [][]*kustomization
	for _, way := range ways {
		made := name
		for _, k := range way {
			made = k.renamed(made)
		}
		if made == to {
			all = append(all, way)
		}
	}
	return all
}

func (k *kustomization) renamed(name string) string {
	return k.root.Get("namePrefix").Text() + name + k.root.Get("nameSuffix").Text()
}

// layers are the kustomizations of a way in the order in which they are applied:
// each after its own components.
func (m *Mapper) layers(way []*kustomization) []*kustomization {
	var all []*kustomization
	for _, k := range way {
		all = append(m.components(all, k, 0), k)
	}
	return all
}

func (m *Mapper) components(all []*kustomization, k *kustomization, depth int) []*kustomization {
	for _, item := range k.root.Get("components").Items() {
		dir := m.files.directory(path.Join(k.dir, item.Text()))
		if dir == "" || depth >= maxNested || len(all) >= maxVisits {
			continue
		}
		if c := m.kustomization(dir); c != nil && !slices.Contains(all, c) {
			all = append(m.components(all, c, depth+1), c)
		}
	}
	return all
}

// generators are the fields in which the generators of kustomize are configured.
var generators = map[string]string{
	"ConfigMapGenerator": "configMapGenerator", "SecretGenerator": "secretGenerator", "HelmChartInflationGenerator": "helmCharts",
}

// generator is where a generator is configured: in an entry of a kustomization,
// or as an object of its own.
func (m *Mapper) generator(o *source.Object, from source.Origin) (Place, bool) {
	file := m.files.read(path.Join(m.base, from.ConfiguredIn))
	if file == nil {
		return Place{}, false
	}
	for _, root := range m.files.documents(file) {
		for _, g := range file.ObjectsOf(root) {
			if g.Kind == from.Generator && g.Name == from.Name && g.Name != "" {
				return Place{Span: g.NameSpan(), Whole: true}, true
			}
		}
		key, list := root.Field(generators[from.Generator])
		for _, item := range list.Items() {
			if k, v := item.Field("name"); k != nil && (list.Len() == 1 || v.Text() != "" && strings.Contains(o.Name, v.Text())) {
				return Place{Span: file.FieldSpan(k, v), Whole: true}, true
			}
		}
		if key != nil {
			return Place{Span: file.Span(key), Whole: true}, true
		}
	}
	return Place{Span: top(file), Whole: true}, m.named
}
