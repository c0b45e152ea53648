package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Path is the path from an object to one of its values, for example
// spec.template.spec.containers[app].image. It identifies a list item by its content, so that the
// path stays the same when other items move. An item that is a map is identified by its name, key
// or topologyKey.
type Path []string

// String returns the path with dots between fields.
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

// Places finds the values of an object by their positions. The first few lookups walk the object,
// which is enough for most objects. Later lookups use an index, because a long object may have a
// finding on every line.
type Places struct {
	root  *Node
	asked int
	steps []step
	at    map[[2]int32]int // the step that leads to the value at a position
}

// step is one field or item on the path to a value.
type step struct {
	up   int // the previous step, or -1
	node *Node
	item bool
	name string // filled in when it is first needed
}

// Places returns a Places for n and its descendants.
func (n *Node) Places() *Places { return &Places{root: n} }

// fewPlaces is the number of lookups before Places builds an index.
const fewPlaces = 8

// pathTo returns the path to a position, last step first. Places.walk must build an index with the
// same paths. If kept is true, pathTo searches only the kept fields of folded maps. Otherwise, it
// searches these fields first, so that the text rarely has to be parsed again. The order of the
// search does not matter, because no two keys or scalars in a folded map begin at the same
// position.
func (n *Node) pathTo(line, column int32, kept bool) (path Path, ok bool) {
	fields, folded := n.Fields(), n.inside != nil && n.inside.folded != nil
	var items []*Node
	switch {
	case folded && kept:
		fields = (&Node{Kind: Map, inside: &inside{nodes: n.inside.nodes}}).Fields()
	case folded:
		if path, ok = n.pathTo(line, column, true); ok {
			return path, true
		}
		fallthrough
	default:
		items = n.Items()
	}
	for k, v := range fields {
		if ok = k.begins(line, column) || v.Kind == Scalar && v.begins(line, column); !ok {
			path, ok = v.pathTo(line, column, kept)
		}
		if ok {
			return append(path, (&step{node: k}).text()), true
		}
	}
	for _, item := range items {
		if path, ok = item.pathTo(line, column, false); ok || item.begins(line, column) {
			return append(path, (&step{node: item, item: true}).text()), true
		}
	}
	return nil, false
}

func (n *Node) begins(line, column int32) bool { return n.Line == line && n.Column == column }

// walk indexes the contents of n. A position belongs to the first node in file order that begins
// there. A map or list in a list may begin at the same position as its first child. The position
// then belongs to the child.
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

// Path returns the path to the first key or value, in file order, at a line and column. It returns
// nil if nothing begins there.
func (p *Places) Path(line, column int) Path {
	if p.asked++; p.asked <= fewPlaces {
		path, _ := p.root.pathTo(int32(line), int32(column), false)
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
	if name == "" || strings.ContainsAny(name, ".[]\"") || len(name) > maxStep { // the name may contain dots
		return "[" + stepName(name) + "]"
	}
	return name
}

// maxStep is the maximum length of a name that is written to a path unchanged.
const maxStep = 100

// stepName quotes a name with characters that would end a step, and replaces a long name with a
// hash.
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

// itemName returns the name that distinguishes a list item from other items. The name of a scalar
// is its value. The name of a map is its first identifying field or, if it has none, the name of a
// map or list in it.
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
	// The fields are visited in name order, because their order in the file may change.
	fields := map[string]*Node{}
	for k, v := range n.Fields() {
		if v.Kind != Scalar {
			fields[k.Value] = v
		}
	}
	for _, k := range sorting.Keys(fields) {
		if name := itemName(fields[k]); name != "" {
			return name
		}
	}
	return ""
}

// Step is one step of the path to a value: a field or a list item. For an item, Key is nil and List
// is the list that contains the item.
type Step struct {
	Key, Value *Node
	List       *Node
	Index      int
	up         *Step
}

// Trails finds the paths to the values of one object by their positions.
type Trails struct {
	// named maps each position to the step whose key or scalar begins there. inner maps each
	// position to the step whose map or list begins there.
	named, inner map[spot]*Step
}

type spot struct{ line, column int32 }

// NewTrails returns the Trails of an object. It walks the object once.
func NewTrails(root *Node) *Trails {
	t := &Trails{named: map[spot]*Step{}, inner: map[spot]*Step{}}
	t.walk(root, nil)
	return t
}

// walk records the steps below a node. If several steps have the same position, as with aliases,
// the first one wins.
func (t *Trails) walk(n *Node, up *Step) {
	for k, v := range n.Fields() {
		t.note(&Step{Key: k, Value: v, up: up})
	}
	for i, item := range n.Items() {
		t.note(&Step{Value: item, List: n, Index: i, up: up})
	}
}

func (t *Trails) note(s *Step) {
	if s.Key != nil {
		first(t.named, s.Key, s)
	}
	if s.Value.Kind == Scalar {
		first(t.named, s.Value, s)
		return
	}
	first(t.inner, s.Value, s)
	t.walk(s.Value, s)
}

func first(in map[spot]*Step, n *Node, s *Step) {
	at := spot{n.Line, n.Column}
	in[at] = cmp.Or(in[at], s)
}

// At returns the steps from the object to the value at a span, or nil. As in File.Span, a span of
// one character means a map or a list.
func (t *Trails) At(s diag.Span) []*Step {
	at := spot{int32(s.Line), int32(s.Column)}
	found := t.named[at]
	if one := s.EndLine == s.Line && s.EndColumn == s.Column+1; t.inner[at] != nil && (one || found == nil) {
		found = t.inner[at]
	}
	var steps []*Step
	for ; found != nil; found = found.up {
		steps = append(steps, found)
	}
	slices.Reverse(steps)
	return steps
}

// Follower follows the path of a value through other objects. It matches list items by content
// rather than by index.
type Follower struct {
	names map[*Node]map[string][]*Node
}

// NewFollower returns a Follower. It caches the names of list items.
func NewFollower() *Follower { return &Follower{names: map[*Node]map[string][]*Node{}} }

// Follow takes steps from another object and follows them from n as far as corresponding fields and
// items exist.
func (f *Follower) Follow(steps []*Step, n *Node) []Step {
	var all []Step
	for _, s := range steps {
		next := Step{List: n}
		if s.Key != nil {
			next.Key, next.Value = n.Field(s.Key.Value)
		} else if n != nil {
			next.Value = f.item(s, n)
		}
		if next.Value == nil {
			break
		}
		all = append(all, next)
		n = next.Value
	}
	return all
}

// maxAlike is the maximum number of items with the same name that are compared.
const maxAlike = 64

// item returns the list item that corresponds to a step in another object, or nil if there is no
// clear match. Corresponding items have the same name. If several items have that name, item
// prefers the only one with equal contents. If there is no such item, the items with that name
// correspond by their order. Both lists must then have the same number of them.
func (f *Follower) item(s *Step, list *Node) *Node {
	name := itemName(s.Value)
	alike, there := f.named(list)[name], f.named(s.List)[name]
	if len(alike) == 1 && len(there) == 1 {
		return alike[0]
	}
	if len(alike) == 0 || max(len(alike), len(there)) > maxAlike {
		return nil
	}
	same := lists.Where(alike, func(item *Node) bool { return Equal(item, s.Value) })
	switch {
	case len(same) == 1:
		return same[0]
	case len(alike) != len(there):
		return nil
	}
	if i := slices.Index(there, s.Value); i >= 0 {
		return alike[i]
	}
	return nil
}

func (f *Follower) named(list *Node) map[string][]*Node {
	names := f.names[list]
	if names == nil {
		names = map[string][]*Node{}
		for _, item := range list.Items() {
			name := itemName(item)
			names[name] = append(names[name], item)
		}
		f.names[list] = names
	}
	return names
}
