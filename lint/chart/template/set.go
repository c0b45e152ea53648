package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// Source is a text that templates are parsed from.
type Source struct {
	Name, Text string
	starts     []int // offsets of its lines
}

func newSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, starts: []int{0}}
	for at := 0; ; {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return s
		}
		at += end + 1
		s.starts = append(s.starts, at)
	}
}

// maxActions bounds the stack that parsing takes, as each action may nest what follows in it.
const maxActions = 200_000

// check refuses what has too many actions, in the words of the parser.
func (s *Source) check() error {
	at := 0
	for n := 0; ; n++ {
		next := strings.Index(s.Text[at:], "{{")
		if next < 0 {
			return nil
		}
		if n == maxActions {
			line, _ := s.Position(parse.Pos(at + next))
			return fmt.Errorf("template: %s:%d: templates are limited to %d actions", s.Name, line, maxActions)
		}
		at += next + len("{{")
	}
}

// Position is the line of an offset, from 1, and the number of bytes before it on the line.
func (s *Source) Position(at parse.Pos) (line, column int) {
	line, found := slices.BinarySearch(s.starts, int(at))
	if found {
		line++
	}
	return line, int(at) - s.starts[line-1]
}

// Template is a definition: a whole text, or what stands between define and end in one.
type Template struct {
	Name   string
	Source *Source
	root   *parse.ListNode
}

// Set is a name space of templates, with the functions that they call.
type Set struct {
	templates   map[string]*Template
	own, shared map[string]any
}

// New makes an empty set with functions, which return a value, or a value and an error.
func New(functions map[string]any) *Set {
	return &Set{templates: map[string]*Template{}, shared: functions}
}

// Override sets functions that are called in place of those that New was given. It
// replaces the functions of an earlier call.
func (s *Set) Override(functions map[string]any) { s.own = functions }

// Clone makes a set with the same templates and functions.
func (s *Set) Clone() *Set {
	return &Set{maps.Clone(s.templates), s.own, s.shared}
}

// Len is the number of templates.
func (s *Set) Len() int { return len(s.templates) }

// Lookup is the template of a name, nil if there is none.
func (s *Set) Lookup(name string) *Template { return s.templates[name] }

// Parse adds the templates of a text. They replace earlier ones of the same name, unless
// they are empty. It returns the template of the text itself, which a caller can execute
// even if an earlier one keeps the name.
func (s *Set) Parse(name, text string) (*Template, error) {
	source := newSource(name, text)
	if err := source.check(); err != nil {
		return nil, err
	}
	trees, err := parse.Parse(name, text, "", "", s.own, s.shared, builtins)
	if err != nil {
		return nil, err
	}
	var whole *Template
	for defined, tree := range trees {
		t := &Template{defined, source, tree.Root}
		if defined == name {
			whole = t
		}
		if s.templates[defined] == nil || !parse.IsEmptyTree(tree.Root) {
			s.templates[defined] = t
		}
	}
	return whole, nil
}
