package source

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
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
// its end. Kept looks only among what is kept of folded maps, in which no two texts begin at one
// place: that comes first, as mostly nothing has to be read again.
func (n *Node) pathTo(line, column int32, kept bool) (path Path, ok bool) {
	fields, folded := n.Fields(), n.inside != nil && n.inside.folded != nil
	var items []*Node
	switch {
	case folded && kept:
		fields = pairs(n.inside.nodes)
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

// Step is one step of the way to a value: a field, or an item of a list, whose
// Key is nil and which has others around it.
type Step struct {
	Key, Value *Node
	List       *Node
	Index      int
	up         *Step
}

// Trails finds the ways to the values of one object by their places.
type Trails struct {
	// named are the steps that a key or a scalar begins, inner those that begin
	// where their own first key or item does.
	named, inner map[spot]*Step
}

type spot struct{ line, column int32 }

// NewTrails goes through an object once.
func NewTrails(root *Node) *Trails {
	t := &Trails{named: map[spot]*Step{}, inner: map[spot]*Step{}}
	t.walk(root, nil)
	return t
}

// walk notes the steps below a node; of several at a place the first one counts,
// as values that aliases repeat have one place.
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
	if in[at] == nil {
		in[at] = s
	}
}

// At are the steps from the object to what a span covers, or nil. A span of one
// character is how File.Span points at a map or a list.
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

// Follower goes the ways of one object in others, where items of lists go by
// what they say and not by where they stand.
type Follower struct {
	names map[*Node]map[string][]*Node
}

// NewFollower remembers the names of the items of lists.
func NewFollower() *Follower { return &Follower{names: map[*Node]map[string][]*Node{}} }

// Follow gives the steps from n that are the same as some steps elsewhere, as
// far as they go.
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

// maxAlike is how many items of one name are compared.
const maxAlike = 64

// item is the item of a list that a step elsewhere leads to: the only one of
// its name, else the only one that says the same, else the one at its place if
// the lists have the same items of this name. In doubt there is none.
func (f *Follower) item(s *Step, list *Node) *Node {
	name := itemName(s.Value)
	alike, there := f.named(list)[name], f.named(s.List)[name]
	if len(alike) == 1 && len(there) == 1 {
		return alike[0]
	}
	if len(alike) == 0 || max(len(alike), len(there)) > maxAlike {
		return nil
	}
	var same []*Node
	for _, item := range alike {
		if Equal(item, s.Value) {
			same = append(same, item)
		}
	}
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
