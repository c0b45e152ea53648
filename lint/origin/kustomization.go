package origin

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

type kustomization struct {
	dir  string
	file *source.File
	root *source.Node
}

// Limits for following kustomizations. Their references are untrusted. Even a few directories can
// have exponentially many paths between them.
const (
	maxNested = 50
	maxWays   = 64
	maxVisits = 100_000
)

// kustomization returns the kustomization in a directory, or nil if there is none.
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

// steps lists the kustomizations that apply to a file, from the innermost outward.
type steps []*kustomization

// pathsTo returns all paths from a file to the base. It returns none if there are too many.
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

// search finds all paths through a tree of kustomizations.
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
	// Each kustomization comes after its components, as a file may come from one of these. Later components come last.
	var all steps
	var below *kustomization
	for _, k := range inner {
		listed := s.m.components(k)
		for _, c := range listed[slices.Index(listed, below)+1:] {
			all = s.m.component(all, c, 0)
		}
		all = append(all, k)
		below = k
	}
	inner = all
	s.visits += len(inner)
	for _, name := range sorting.Keys(s.m.files.printed) {
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

// before returns an object's name before the kustomizations on a path added prefixes and suffixes.
// The argument is the name with prefixes and suffixes. ok is false if the kustomizations cannot
// produce this name.
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

// generators maps the kinds of kustomize generators to the fields that configure them.
var generators = map[string]string{
	"ConfigMapGenerator": "configMapGenerator", "SecretGenerator": "secretGenerator", "HelmChartInflationGenerator": "helmCharts",
}

// subject is an object during rendering, with all its names so far.
type subject struct {
	*sourceObject
	names []string
}

// settersOf returns a kustomization's setters for an object in the order in which kustomize applies
// them (kustomize: api/internal/target/kusttarget_configplugin.go).
func (m *Mapper) settersOf(k *kustomization, o *subject) []setter {
	var all []setter
	for _, field := range []string{"patchesStrategicMerge", "patches", "namespace", "commonLabels", "labels", "patchesJson6902", "replicas", "replacements"} {
		key, value := k.root.Field(field)
		if key == nil {
			continue
		}
		switch field {
		case "commonLabels":
			all = append(all, labels(k, value))
		case "labels":
			for _, item := range value.Items() {
				all = append(all, labels(k, item.Get("pairs")))
			}
		case "namespace":
			all = append(all, setsField(k, key, value, "metadata", "namespace"))
		case "replicas":
			var of *source.Node
			if i := slices.IndexFunc(value.Items(), func(item *source.Node) bool { return slices.Contains(o.names, item.Get("name").Text()) }); i >= 0 {
				of = value.Items()[i]
			}
			key, count := of.Field("count")
			all = append(all, setsField(k, key, count, "spec", "replicas"))
		case "replacements":
			all = append(all, m.replacements(k, o, value)...)
		default:
			for _, item := range value.Items() { // a path or inline text, alone or in a map that may have a target
				key, block := key, item
				name, target := "", item.Get("target")
				if item.Kind != source.Scalar {
					name = item.Get("path").Text()
					key, block = item.Field("patch")
				} else if !strings.Contains(item.Text(), "\n") {
					name = item.Text()
				}
				all = append(all, m.patches(k, o, target, name, key, block)...)
			}
		}
	}
	return all
}

// only returns a slice of the same length as steps. Only the last step has a key and a value. only
// returns nil if the value is nil.
func only(steps []*source.Step, key, value *source.Node) []source.Step {
	if value == nil {
		return nil
	}
	all := make([]source.Step, len(steps))
	all[len(steps)-1] = source.Step{Key: key, Value: value}
	return all
}

// isField reports whether the steps lead through fields with the given names.
func isField(steps []*source.Step, names ...string) bool {
	return len(steps) == len(names) && !slices.ContainsFunc(steps, func(s *source.Step) bool { return s.Key == nil }) &&
		slices.EqualFunc(steps, names, func(s *source.Step, name string) bool { return s.Key.Value == name })
}

// labels returns a setter for labels and selectors. It is unknown whether the setter applies,
// because kustomize's configuration determines which of these fields kustomize sets.
func labels(k *kustomization, pairs *source.Node) setter {
	return setter{in: text{file: k.file}, cost: 1, follow: func(steps []*source.Step) []source.Step {
		n := len(steps)
		if n < 2 || steps[n-1].Key == nil || steps[n-2].Key == nil || !slices.Contains([]string{"labels", "matchLabels", "selector"}, steps[n-2].Key.Value) {
			return nil
		}
		key, value := pairs.Field(steps[n-1].Key.Value)
		return only(steps, key, value)
	}}
}

// setsField returns a setter for one field in an object.
func setsField(k *kustomization, key, value *source.Node, names ...string) setter {
	return setter{in: text{file: k.file}, sure: true, cost: 1, follow: func(steps []*source.Step) []source.Step {
		if !isField(steps, names...) {
			return nil
		}
		return only(steps, key, value)
	}}
}

// inline holds the patches in a block scalar.
type inline struct {
	file  *source.File
	roots []*source.Node
}

// patches returns setters for the patches in a file. If name is empty, the patches are in a block
// scalar.
func (m *Mapper) patches(k *kustomization, o *subject, target *source.Node, name string, key, block *source.Node) []setter {
	var in text
	var roots []*source.Node
	switch {
	case name != "":
		if in.file = m.files.read(path.Join(k.dir, name)); in.file == nil {
			return nil
		}
		roots = m.files.documents(in.file)
	case block.Text() != "":
		p, known := m.inline[block]
		if !known {
			p.file = &source.File{Text: []byte(block.Value)}
			p.roots = p.file.Roots()
			m.inline[block] = p
		}
		in, roots = text{file: k.file, patch: p.file, key: key, block: block}, p.roots
	}
	var all []setter
	for _, root := range roots {
		matches, sure := m.matches(o, target, root)
		if !matches {
			continue
		}
		s := setter{in: in, sure: sure, cost: 1, follow: func(steps []*source.Step) []source.Step { return o.follower.Follow(steps, root) }}
		if root.Kind == source.Sequence {
			s.cost += root.Len()
			s.follow = func(steps []*source.Step) []source.Step { // Later operations override earlier ones.
				all := make([]source.Step, len(steps))
				for _, op := range root.Items() {
					if name := op.Get("op").Text(); name != "add" && name != "replace" {
						continue
					}
					key, value := op.Field("value")
					n := reached(op.Get("path").Text(), steps, value)
					if n == 0 {
						continue
					}
					clear(all[n:])
					all[n-1] = source.Step{Key: key, Value: value}
					copy(all[n:], o.follower.Follow(steps[n:], value))
				}
				return all
			}
		}
		all = append(all, s)
	}
	return all
}

// matches reports whether a patch applies to the object. It does not evaluate label and annotation
// selectors. sure is false if the patch has such a selector.
func (m *Mapper) matches(o *subject, target, root *source.Node) (matches, sure bool) {
	if target == nil {
		name := root.At("metadata", "name").Text()
		return root.Get("kind").Text() == o.object.Kind && slices.Contains(o.names, name), true
	}
	sure = target.Get("labelSelector") == nil && target.Get("annotationSelector") == nil
	for field, values := range map[string][]string{
		"group": {o.object.Group()}, "kind": {o.object.Kind}, "name": o.names,
		"namespace": {o.object.Namespace, o.rendered.Namespace},
	} {
		if want := target.Get(field).Text(); want != "" && !m.anyMatches(want, values) {
			return false, false
		}
	}
	return true, sure
}

// maxPattern is the maximum length of a pattern in a target.
const maxPattern = 1000

// anyMatches reports whether a target's pattern matches any of the values. Patterns are anchored
// (kustomize: api/types/selector.go).
func (m *Mapper) anyMatches(pattern string, values []string) bool {
	re, known := m.patterns[pattern]
	if !known && len(pattern) <= maxPattern {
		re, _ = regexp.Compile("^(?:" + pattern + ")$") // nil if the pattern is invalid
		m.patterns[pattern] = re
	}
	return re != nil && slices.ContainsFunc(values, re.MatchString)
}

// reached returns the number of steps in an operation's JSON pointer (RFC 6901). It returns 0 if
// the pointer does not follow the steps. It recognizes an added list item by its content, because
// the index is unknown.
func reached(pointer string, steps []*source.Step, value *source.Node) int {
	tokens := strings.Split(pointer, "/")
	if value == nil || len(tokens) < 2 || tokens[0] != "" || len(tokens)-1 > len(steps) {
		return 0
	}
	for i, token := range tokens[1:] {
		s := steps[i]
		if s.Key != nil {
			if s.Key.Value != strings.NewReplacer("~1", "/", "~0", "~").Replace(token) {
				return 0
			}
			continue
		}
		whole := i == len(tokens)-2 && source.Equal(value, s.Value)
		if !whole && strconv.Itoa(s.Index) != token {
			return 0
		}
	}
	return len(tokens) - 1
}
