package origin

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
)

// replacements returns setters for a kustomization's replacements. A replacement copies a value
// from one object into others (kustomize: api/filters/replacement).
func (m *Mapper) replacements(k *kustomization, o *subject, list *source.Node) []setter {
	var all []setter
	for _, item := range list.Items() {
		in, entries := k.file, []*source.Node{item}
		if name := item.Get("path").Text(); name != "" {
			if in = m.files.read(path.Join(k.dir, name)); in == nil {
				continue
			}
			entries = nil
			for _, root := range m.files.documents(in) {
				if root.Kind == source.Sequence {
					entries = append(entries, root.Items()...)
					continue
				}
				entries = append(entries, root)
			}
		}
		for _, entry := range entries {
			if len(all) > maxCost {
				return all
			}
			if s, ok := m.replacement(in, o, entry); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// replacement returns the setter for one replacement. ok is false if the copied value is unknown,
// or if the replacement does not select the object.
func (m *Mapper) replacement(in *source.File, o *subject, entry *source.Node) (s setter, ok bool) {
	var fields [][]string // fields that the replacement sets completely
	sure := true
	for _, target := range entry.Get("targets").Items() {
		selected := target.Get("select")
		if selected == nil || target.At("options", "delimiter") != nil {
			continue
		}
		if matches, surely := m.matches(o, selected, nil); matches {
			sure = sure && surely && target.Get("reject").Len() == 0
			for _, field := range target.Get("fieldPaths").Items() {
				fields = append(fields, splitPath(field.Text()))
			}
		}
	}
	if len(fields) == 0 {
		return s, false
	}
	c := copied{in: in}
	if c.key, c.value = entry.Field("sourceValue"); c.key == nil {
		c = m.copied(entry.Get("source"))
	}
	follow := func(steps []*source.Step) []source.Step {
		for _, field := range fields {
			if n := len(field); n <= len(steps) && leads(field, steps[:n]) {
				all := make([]source.Step, n, len(steps))
				all[n-1] = source.Step{Key: c.key, Value: c.value}
				return append(all, o.follower.Follow(steps[n:], c.value)...)
			}
		}
		return nil
	}
	return setter{in: text{file: c.in}, sure: sure, cost: len(fields), follow: follow}, c.value != nil
}

// copied is a field that a replacement copies. An unknown field has no value.
type copied struct {
	in         *source.File
	key, value *source.Node
}

// copied returns the source field of a replacement. It is known only if exactly one object in the
// sources matches.
func (m *Mapper) copied(from *source.Node) copied {
	return lazy.Cached(m.copies, from, func() copied {
		name := from.Get("name").Text()
		if name == "" || from.Get("options") != nil {
			return copied{}
		}
		o := m.declared(groupKind{from.Get("group").Text(), from.Get("kind").Text()}, name, from.Get("namespace").Text())
		if o == nil {
			return copied{}
		}
		c := copied{in: o.File, value: o.Root}
		for _, token := range splitPath(from.Get("fieldPath").Text()) {
			if c.key, c.value = pick(c.value, token); c.value == nil {
				return copied{}
			}
		}
		return c
	})
}

// declared returns the object with the given kind and name. The sources must contain exactly one
// such object, or declared returns nil. An empty group or namespace matches all.
func (m *Mapper) declared(as groupKind, name, namespace string) *source.Object {
	if m.byName == nil {
		m.byName = map[kindName][]*source.Object{}
		for _, source := range m.sources() {
			if file := m.files.read(source); file != nil {
				for of, named := range m.files.objects(file) {
					for name, all := range named {
						as := kindName{of.kind, name}
						m.byName[as] = append(m.byName[as], all...)
					}
				}
			}
		}
	}
	var found *source.Object
	for _, o := range m.byName[kindName{as.kind, name}] {
		if as.group != "" && as.group != o.Group() || namespace != "" && namespace != o.Namespace {
			continue
		}
		if found != nil {
			return nil
		}
		found = o
	}
	return found
}

type kindName struct{ kind, name string }

// splitPath splits a field path at dots, except at dots in brackets or after a backslash
// (kustomize: kyaml/utils, SmarterPathSplitter).
func splitPath(s string) []string {
	s = cmp.Or(s, "metadata.name")
	var all []string
	var token strings.Builder
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '.':
			i++
			token.WriteByte('.')
		case c == '.' && !inside:
			all = append(all, token.String())
			token.Reset()
		default:
			inside = (inside || c == '[') && c != ']'
			token.WriteByte(c)
		}
	}
	return append(all, token.String())
}

// leads reports whether a field path matches the steps.
func leads(field []string, steps []*source.Step) bool {
	for i, s := range steps {
		switch {
		case s.Key != nil && s.Key.Value == field[i]:
		case s.Key == nil && (field[i] == "*" || strconv.Itoa(s.Index) == field[i] || named(s.Value, field[i])):
		default:
			return false
		}
	}
	return true
}

// pick returns the field or list item named by one element of a field path.
func pick(n *source.Node, token string) (key, value *source.Node) {
	if n.Kind == source.Map {
		return n.Field(token)
	}
	for i, item := range n.Items() {
		if strconv.Itoa(i) == token || named(item, token) {
			return nil, item
		}
	}
	return nil, nil
}

// named reports whether a path element of the form [name=value] selects a list item.
func named(item *source.Node, token string) bool {
	inner, opened := strings.CutPrefix(token, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	field, want, ok := strings.Cut(inner, "=")
	if !opened || !closed || !ok {
		return false
	}
	if field == "" {
		return item.Kind == source.Scalar && item.Value == want
	}
	return item.Get(field).Text() == want
}
