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
	starts     []int // offsets of the lines
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

// maxActions limits the stack that parsing takes, because each action may nest everything after it.
const maxActions = 200_000

// check rejects a text with too many actions, with an error like that of the parser.
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

// Position returns the line at an offset, counted from 1, and the number of bytes before it on that
// line.
func (s *Source) Position(at parse.Pos) (line, column int) {
	line, found := slices.BinarySearch(s.starts, int(at))
	if found {
		line++
	}
	return line, int(at) - s.starts[line-1]
}

// Template is a definition: a whole text, or the part between define and end.
type Template struct {
	Name   string
	Source *Source
	root   *parse.ListNode
}

// Set is a name space of templates with the functions that they call.
type Set struct {
	templates   map[string]*Template
	own, shared map[string]any
}

// New returns an empty set. Each function returns a value, or a value and an error.
func New(functions map[string]any) *Set {
	return &Set{templates: map[string]*Template{}, shared: functions}
}

// Override sets functions that replace those of New. It discards the functions of an earlier call.
func (s *Set) Override(functions map[string]any) { s.own = functions }

// Clone returns a set with the same templates and functions.
func (s *Set) Clone() *Set {
	return &Set{maps.Clone(s.templates), s.own, s.shared}
}

// Len returns the number of templates.
func (s *Set) Len() int { return len(s.templates) }

// Lookup returns the template with a name, or nil.
func (s *Set) Lookup(name string) *Template { return s.templates[name] }

// Parse adds the templates of a text. Unless they are empty, they replace earlier ones with the
// same name. It returns the template of the text itself, which can be executed even if an earlier
// one keeps the name.
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
