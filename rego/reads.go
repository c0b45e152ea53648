package rego

import (
	"maps"
	"slices"
	"strings"
)

// reads records which places of the facts a rule may read.
type reads struct {
	all bool
	// paths holds keys joined by dots, such as workloads.containers.image. The value is true if
	// everything below is read.
	paths map[string]bool
}

// readsOf finds the lists that a built-in rule names as input.<list>. It searches the text, so that
// a module without anything to judge is not even parsed. It may find too much but never too little:
// input in any other form means all lists.
func readsOf(text string) reads {
	r := reads{paths: map[string]bool{}}
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at:] // only comments precede it
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

// note records one occurrence of the word input, given the text around it.
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
	r.paths[after[:end]] = true
}

func inName(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// has reports whether a place, something below it, or everything around it is read.
func (r *reads) has(path string) bool {
	if _, ok := r.paths[path]; ok || r.all {
		return true
	}
	for read, whole := range r.paths {
		if strings.HasPrefix(read, path+".") || whole && strings.HasPrefix(path, read+".") {
			return true
		}
	}
	return false
}

// lists returns the lists that are read, at least in part, sorted.
func (r *reads) lists() []string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(r.paths)) {
		list, _, _ := strings.Cut(path, ".")
		all = append(all, list)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// add adds the places that o reads.
func (r *reads) add(o reads) {
	r.all = r.all || o.all
	if r.paths == nil {
		r.paths = map[string]bool{}
	}
	for path, whole := range o.paths {
		r.paths[path] = r.paths[path] || whole
	}
}

// Reads returns the lists of facts that a rule may read. It returns none if there is no such rule,
// if it is off, or if it may read all lists.
func (e *Engine) Reads(id string) []string {
	r := e.find(id)
	if r == nil || r.off || r.reads.all {
		return nil
	}
	return r.reads.lists()
}

// MayRead reports whether a rule may read a place of the facts, given as keys joined by dots
// (workloads, workloads.answers.survives), anything below it, or everything around it. It is false
// for a rule that is off.
func (e *Engine) MayRead(id, path string) bool {
	r := e.find(id)
	return r != nil && !r.off && r.reads.has(path)
}
