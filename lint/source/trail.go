package source

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

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
