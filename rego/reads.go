package rego

import (
	"maps"
	"slices"
	"strings"
)

// reads tells which lists of facts a module may look at.
type reads struct {
	all   bool
	lists map[string]bool
}

// readsOf finds the lists that a module names as input.<list>. It looks at the
// text, so that a module which has nothing to judge is not even parsed. It may
// find too much and never too little: input in any other form means all lists.
func readsOf(text string) reads {
	r := reads{lists: map[string]bool{}}
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at:] // only comments stand before it
	}
	for at := 0; ; at++ {
		next := strings.Index(text[at:], "input")
		if next < 0 {
			return r
		}
		at += next
		r.note(text[:at], text[at+len("input"):])
	}
}

// note takes the word input between its surroundings into account.
func (r *reads) note(before, after string) {
	if before != "" && (inName(before[len(before)-1]) || before[len(before)-1] == '.') {
		return
	}
	end := 0
	for end < len(after) && inName(after[end]) {
		end++
	}
	if end > 0 {
		return
	}
	if !strings.HasPrefix(after, ".") {
		r.all = true
		return
	}
	after = after[1:]
	for end < len(after) && inName(after[end]) {
		end++
	}
	r.lists[after[:end]] = true
}

func inName(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// has reports whether a list is read, or a field of its rows as in workloads.name.
func (r *reads) has(path string) bool {
	list, _, _ := strings.Cut(path, ".")
	return r.all || r.lists[list]
}

// anyOf reports whether one of the lists is read.
func (r *reads) anyOf(lists []string) bool {
	for _, list := range lists {
		if r.has(list) {
			return true
		}
	}
	return false
}

// add makes r read what o reads, too.
func (r *reads) add(o reads) {
	r.all = r.all || o.all
	if r.lists == nil {
		r.lists = map[string]bool{}
	}
	maps.Copy(r.lists, o.lists)
}

// Reads names the lists of facts that a rule may look at; none if there is no
// such rule, if it is off, or if it may look at all of them.
func (e *Engine) Reads(id string) []string {
	r := e.find(id)
	if r == nil || r.off || r.reads.all {
		return nil
	}
	return slices.Sorted(maps.Keys(r.reads.lists))
}

// MayRead reports whether a rule may look at a list of facts; false for one that is off.
func (e *Engine) MayRead(id, list string) bool {
	r := e.find(id)
	return r != nil && !r.off && r.reads.has(list)
}
