package rego

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// checks collects what is wrong with the values of a rule.
type checks struct{ found []fault }

// fault is a problem at one place.
type fault struct {
	at   *ast.Location
	what string
}

func (c *checks) add(at *ast.Location, format string, args ...any) {
	if at != nil && !strings.HasPrefix(at.File, "lib/") { // modules of the program itself
		c.found = append(c.found, fault{at, fmt.Sprintf(format, args...)})
	}
}

// faultErrors converts faults to errors, sorted by place, without repeats.
func faultErrors(faults []fault) []error {
	slices.SortStableFunc(faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Row, b.at.Row), cmp.Compare(a.what, b.what))
	})
	var all []error
	last := ""
	for _, f := range faults {
		if text := place(f.at) + f.what; text != last {
			all, last = append(all, errors.New(text)), text
		}
	}
	return all
}

// enumerated returns the places with an enumeration among what v stands for, and the strings that v
// can be. It returns false if v can be any other string.
func enumerated(v abstract) (nodes []*node, values []string, ok bool) {
	for _, member := range v.of {
		switch m := member.(type) {
		case *node:
			if len(m.enum) == 0 {
				return nil, nil, false
			}
			nodes, values = append(nodes, m), append(values, m.enum...)
		case *ast.Term:
			if text, isString := m.Value.(ast.String); isString {
				values = append(values, string(text))
			}
		}
	}
	return nodes, values, len(nodes) > 0 && !v.unknown
}

// placeNames returns the names of places for messages, up to a limit.
func placeNames(nodes []*node) string {
	const most = 3
	var all []string
	for _, n := range nodes {
		all = append(all, n.name())
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}

// tooMany adds a fault if an enumeration is compared with more values than are checked, or has too
// many itself.
func (c *checks) tooMany(at *ast.Location, v, with abstract) {
	i := slices.IndexFunc(v.of, func(member any) bool {
		n, ok := member.(*node)
		return ok && len(n.enum) > 0
	})
	if i >= 0 && (v.cut || with.cut) {
		c.add(at, "%s is compared with more than %d values, which are too many to check; it is one of %s",
			v.of[i].(*node).name(), maxMembers, strings.Join(v.of[i].(*node).enum, ", "))
	}
}

// equal requires the constants compared with an enumeration to be in it.
func (c *checks) equal(at *ast.Location, v, with abstract) {
	c.tooMany(at, v, with)
	nodes, values, ok := enumerated(v)
	if !ok {
		return
	}
	for _, member := range with.of {
		term, isTerm := member.(*ast.Term)
		if !isTerm {
			continue
		}
		text, isString := term.Value.(ast.String)
		if !isString || slices.Contains(values, string(text)) {
			continue
		}
		c.add(cmp.Or(term.Location, at), "%s is never %q%s; it is one of %s",
			placeNames(nodes), string(text), near(string(text), nodes[0].enum), strings.Join(nodes[0].enum, ", "))
	}
}

// order requires values that are compared by their order to have one.
func (c *checks) order(at *ast.Location, v, with abstract) {
	if c.outcome(at, v) {
		return
	}
	number := integersOf(v)
	if number == "" {
		return
	}
	for _, member := range with.of {
		if term, ok := member.(*ast.Term); ok {
			if text, isString := term.Value.(ast.String); isString {
				c.add(at, "%s is an integer and %q is a string, and Rego takes every number for less than every string; compare with a number",
					number, string(text))
			}
		}
	}
}

// integersOf names the places that v stands for, if all of them are integers of the facts.
func integersOf(v abstract) string {
	var nodes []*node
	for _, member := range v.of {
		n, ok := member.(*node)
		if !ok || n.kind != "integer" {
			return ""
		}
		nodes = append(nodes, n)
	}
	if v.unknown || len(nodes) == 0 {
		return ""
	}
	return placeNames(nodes)
}

// outcome adds a fault for ordering the values of an enumeration, and reports whether v has any.
func (c *checks) outcome(at *ast.Location, v abstract) bool {
	nodes, _, ok := enumerated(v)
	if ok {
		c.add(at, "%s has no order: it is one of %s, which Rego would compare as text; compare with == or in",
			placeNames(nodes), strings.Join(nodes[0].enum, ", "))
	}
	return ok
}

// field requires a closed object to have a key, and reports whether it does.
func (c *checks) field(at *ast.Location, v abstract, key string) bool {
	if v.unknown {
		return true
	}
	var closed *node
	for _, member := range v.of {
		n, ok := member.(*node)
		if !ok || !n.closed() || n.fields[key] != nil {
			return true
		}
		closed = n
	}
	if closed == nil {
		return true
	}
	c.add(at, "object.get: %s", closed.valid(key))
	return false
}
