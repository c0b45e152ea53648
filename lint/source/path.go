package source

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Path is the way from an object to one of its values, field by field. Items of
// a list go by what they say and not by where they stand, as in
// spec.template.spec.containers[app].image, so that a path stays the same when
// others move: an item that is a map by its name, key or topologyKey.
type Path []string

// String is the path with a dot before each field.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		if b.Len() > 0 && !strings.HasPrefix(step, "[") {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// Places finds the values of an object by where they start. Few are asked for as a
// rule, each by a walk; then one walk answers for all of them, as there may be a finding
// in every line of a long object.
type Places struct {
	root  *Node
	asked int
	steps []step
	at    map[[2]int32]int // the step that leads to a place
}

// step is one field or item on the way to a value.
type step struct {
	up   int // the step before it, or -1
	node *Node
	item bool
	name string // once it is known
}

// Places are the places of everything in n.
func (n *Node) Places() *Places { return &Places{root: n} }

// fewPlaces is how many places are each found by a walk.
const fewPlaces = 8

// pathTo finds what Places.walk would note for a place, and gives the path to it from
// its end.
func (n *Node) pathTo(line, column int32) (path Path, ok bool) {
	if n.inside != nil && n.inside.folded != nil {
		if path, ok = n.keptTo(line, column); ok {
			return path, true
		}
	}
	for k, v := range n.Fields() {
		if ok = k.begins(line, column) || v.Kind == Scalar && v.begins(line, column); !ok {
			path, ok = v.pathTo(line, column)
		}
		if ok {
			return append(path, (&step{node: k}).text()), true
		}
	}
	for _, item := range n.Items() {
		if path, ok = item.pathTo(line, column); ok || item.begins(line, column) {
			return append(path, (&step{node: item, item: true}).text()), true
		}
	}
	return nil, false
}

// keptTo is pathTo among what is kept of folded maps, in which no two texts begin at one
// place: mostly nothing has to be read again.
func (n *Node) keptTo(line, column int32) (path Path, ok bool) {
	if n.inside == nil || n.inside.folded == nil {
		return n.pathTo(line, column)
	}
	for i := 0; i+1 < len(n.inside.nodes); i += 2 {
		k, v := n.inside.nodes[i], n.inside.nodes[i+1]
		if ok = k.begins(line, column) || v.Kind == Scalar && v.begins(line, column); !ok {
			path, ok = v.keptTo(line, column)
		}
		if ok {
			return append(path, (&step{node: k}).text()), true
		}
	}
	return nil, false
}

func (n *Node) begins(line, column int32) bool { return n.Line == line && n.Column == column }

// walk notes what is in n. A place belongs to the first that starts there in the
// order of the file: a map or list in a list to what is in it, if that does.
func (p *Places) walk(n *Node, up int) {
	for k, v := range n.Fields() {
		s := p.add(step{up: up, node: k})
		p.note(k, s)
		if v.Kind == Scalar {
			p.note(v, s)
		}
		p.walk(v, s)
	}
	for _, item := range n.Items() {
		s := p.add(step{up: up, node: item, item: true})
		p.walk(item, s)
		p.note(item, s)
	}
}

func (p *Places) add(s step) int {
	p.steps = append(p.steps, s)
	return len(p.steps) - 1
}

func (p *Places) note(n *Node, s int) {
	at := [2]int32{n.Line, n.Column}
	if _, taken := p.at[at]; !taken {
		p.at[at] = s
	}
}

// Path is the path to the key or the value that starts at a line and a column, the
// first one in the order of the file; nil if nothing starts there.
func (p *Places) Path(line, column int) Path {
	if p.asked++; p.asked <= fewPlaces {
		path, _ := p.root.pathTo(int32(line), int32(column))
		slices.Reverse(path)
		return path
	}
	if p.at == nil {
		p.at = map[[2]int32]int{}
		p.walk(p.root, -1)
	}
	i, ok := p.at[[2]int32{int32(line), int32(column)}]
	if !ok {
		return nil
	}
	var path Path
	for ; i >= 0; i = p.steps[i].up {
		s := &p.steps[i]
		if s.name == "" {
			s.name = s.text()
		}
		path = append(path, s.name)
	}
	slices.Reverse(path)
	return path
}

func (s *step) text() string {
	if s.item {
		return "[" + stepName(itemName(s.node)) + "]"
	}
	name := s.node.Value
	if name == "" || strings.ContainsAny(name, ".[]\"") || len(name) > maxStep { // it has a dot of its own
		return "[" + stepName(name) + "]"
	}
	return name
}

// maxStep is how long a name may be that stands in a path as it is.
const maxStep = 100

// stepName is a name without what would end it, cut by its sum if it is long.
func stepName(name string) string {
	if len(name) > maxStep {
		sum := sha256.Sum256([]byte(name))
		return "sha256:" + hex.EncodeToString(sum[:8])
	}
	if strings.ContainsAny(name, `[]"\`) || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// itemName is what tells an item of a list from the others: a scalar by itself,
// a map by the first of its naming fields, or of those further down.
func itemName(n *Node) string {
	switch n.Kind {
	case Scalar:
		return n.Value
	case Sequence:
		for _, item := range n.Items() {
			if name := itemName(item); name != "" {
				return name
			}
		}
		return ""
	}
	for _, field := range []string{"name", "key", "topologyKey"} {
		if v := n.Get(field); v != nil && v.Kind == Scalar && v.Value != "" {
			return v.Value
		}
	}
	return nameBelow(n)
}

// nameBelow looks in the fields of a map that are no scalars, in the order of
// their names, as that of the file may change.
func nameBelow(n *Node) string {
	fields := map[string]*Node{}
	for k, v := range n.Fields() {
		if v.Kind != Scalar {
			fields[k.Value] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if name := itemName(fields[k]); name != "" {
			return name
		}
	}
	return ""
}
