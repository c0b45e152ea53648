package origin

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
	file *source.File
	root *source.Node
}

// Bounds on how far kustomizations are followed: their references are untrusted, and the number of
// paths through a few directories can be exponential.
const (
	maxNested = 50
	maxWays   = 64
	maxVisits = 100_000
)

// kustomization returns the kustomization of a directory, or nil if there is none.
func (m *Mapper) kustomization(dir string) *kustomization {
	k, known := m.dirs[dir]
	if known {
		return k
	}
	for _, name := range source.KustomizationFiles() {
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

// steps is the path from a file to the rendered object: the kustomizations that are applied to the
// file, the innermost first.
type steps []*kustomization

// pathsTo returns all paths from a file, or none if there are too many.
func (m *Mapper) pathsTo(file string) []steps {
	if m.ways == nil {
		s := search{m: m, found: map[string][]steps{}}
		s.in(m.base, nil)
		if m.ways = s.found; s.visits > maxVisits {
			m.ways = map[string][]steps{}
		}
	}
	if ways := m.ways[file]; len(ways) <= maxWays {
		return ways
	}
	return nil
}

// search visits a tree of kustomizations.
type search struct {
	m      *Mapper
	visits int
	found  map[string][]steps
}

func (s *search) in(dir string, above steps) {
	k := s.m.kustomization(dir)
	if k == nil || slices.Contains(above, k) || len(above) >= maxNested {
		return
	}
	above = append(slices.Clip(above), k)
	inner := slices.Clone(above)
	slices.Reverse(inner)
	inner = s.m.layers(inner)
	s.visits += len(inner)
	for _, name := range slices.Sorted(maps.Keys(s.m.files.printed)) {
		if path.Dir(path.Dir(name)) == dir { // the output of a chart
			s.found[name] = append(s.found[name], inner)
		}
	}
	for _, field := range []string{"resources", "bases", "components"} {
		for _, item := range k.root.Get(field).Items() {
			if s.visits++; s.visits > maxVisits {
				return
			}
			e := s.m.files.Entry(path.Join(dir, item.Text()))
			switch {
			case item.Text() == "" || e.Info == nil:
			case e.Info.IsDir():
				s.in(e.Name, above)
			case len(s.found[e.Name]) <= maxWays:
				s.found[e.Name] = append(s.found[e.Name], inner)
			}
		}
	}
}

// before returns the name that the kustomizations of a path turn into another one; ok is false if
// there is none.
func (w steps) before(name string) (before string, ok bool) {
	for _, k := range slices.Backward(w) {
		prefix, suffix := k.affixes()
		if name, ok = strings.CutPrefix(name, prefix); !ok {
			return "", false
		}
		if name, ok = strings.CutSuffix(name, suffix); !ok {
			return "", false
		}
	}
	return name, name != ""
}

func (k *kustomization) affixes() (prefix, suffix string) {
	return k.root.Get("namePrefix").Text(), k.root.Get("nameSuffix").Text()
}

// layers adds, to the kustomizations that a file passes through, the components that each of them
// applies before itself. If the kustomization below is one of these components, only the later ones
// count.
func (m *Mapper) layers(through steps) steps {
	var all steps
	var below *kustomization
	for _, k := range through {
		listed := m.components(k)
		for _, c := range listed[slices.Index(listed, below)+1:] {
			all = m.component(all, c, 0)
		}
		all = append(all, k)
		below = k
	}
	return all
}

func (m *Mapper) component(all steps, c *kustomization, depth int) steps {
	if depth > maxNested || len(all) > maxCost {
		return all
	}
	for _, inner := range m.components(c) {
		all = m.component(all, inner, depth+1)
	}
	return append(all, c)
}

func (m *Mapper) components(k *kustomization) []*kustomization {
	var all []*kustomization
	for _, item := range k.root.Get("components").Items() {
		if dir := m.files.directory(path.Join(k.dir, item.Text())); dir != "" {
			if c := m.kustomization(dir); c != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// generators maps the generators of kustomize to the fields that configure them.
var generators = map[string]string{
	"ConfigMapGenerator": "configMapGenerator", "SecretGenerator": "secretGenerator", "HelmChartInflationGenerator": "helmCharts",
}

// generator returns where a generator is configured: in an entry of a kustomization, or as an
// object of its own.
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
