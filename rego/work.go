package rego

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The work of calls that their arguments do not show: OPA's graph searches may visit a vertex once
// for every path to it, YAML may repeat a value many times, and time zones depend on the machine.

// vertices returns the members of an array or a set of vertices.
func vertices(t *ast.Term) []*ast.Term {
	switch t.Value.(type) {
	case *ast.Array, ast.Set:
		return members(t)
	}
	return nil
}

// reaching charges the work of graph.reachable: OPA queues a vertex again for every edge to it
// until it is reached, so that layers of vertices multiply.
func reaching(m *meter, args []*ast.Term) int64 {
	graph, ok := args[0].Value.(ast.Object)
	if !ok {
		return 0
	}
	reached := ast.NewSet()
	for queue := vertices(args[1]); len(queue) > 0; queue = queue[1:] {
		m.charge(1)
		edges := graph.Get(queue[0])
		if edges == nil {
			continue
		}
		for _, next := range vertices(edges) {
			m.charge(1)
			if !reached.Contains(next) {
				queue = append(queue, next)
			}
		}
		reached.Add(queue[0])
	}
	return 0
}

// ways charges the work of graph.reachable_paths, which copies each path once for every step of it,
// and the members of its result.
func ways(m *meter, args []*ast.Term) int64 {
	graph, ok := args[0].Value.(ast.Object)
	if !ok {
		return 0
	}
	const copying = 4 // steps for a vertex of a path
	var made int64
	var follow func(vertex *ast.Term, way []*ast.Term)
	follow = func(vertex *ast.Term, way []*ast.Term) {
		m.charge(copying * int64(len(way)+1))
		var next []*ast.Term
		edges := graph.Get(vertex)
		if edges != nil {
			way, next = append(way[:len(way):len(way)], vertex), vertices(edges)
		}
		if len(next) == 0 {
			made += int64(len(way)) + 1
			m.fits("graph.reachable_paths", size{items: made})
		}
		for _, n := range next {
			if !slices.ContainsFunc(way, n.Equal) {
				follow(n, way)
				continue
			}
			made += int64(len(way)) + 1
			m.fits("graph.reachable_paths", size{items: made})
		}
	}
	for _, vertex := range vertices(args[1]) {
		follow(vertex, nil)
	}
	return 0
}

// aliasBefore lists the characters that may precede a * that is not a YAML alias.
const aliasBefore = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\"'/.*_)(=\\<>+$^%"

// plainYAML returns the work of reading YAML. It refuses aliases, as a few lines of them expand to
// any amount of text. The parser compares each key of a mapping with all others, which takes 40 s
// for 100,000 keys. The number of keys is at most the number of characters that may end or begin
// one.
func plainYAML(m *meter, args []*ast.Term) int64 {
	s := text(args[0])
	for i := range len(s) {
		if s[i] == '*' && (i == 0 || !strings.ContainsRune(aliasBefore, rune(s[i-1]))) {
			m.refuse("reads YAML with aliases (*name), which rules may not; write the values out")
		}
	}
	const compared = 32 // keys for a step
	keys := int64(strings.Count(s, ":") + strings.Count(s, "?") + strings.Count(s, ","))
	return int64(len(s)) + keys*keys/compared
}

// indented bounds what yaml.marshal makes: every member and every line of a string is on a line of
// its own, indented by its level.
func indented(m *meter, args []*ast.Term) size {
	const perLevel, punctuation = 4, 8
	lines, depth := lines(args[0], 1)
	return size{text: 2*length(args[0]) + lines*(perLevel*depth+punctuation)}
}

// lines bounds the lines that a value takes, and returns its depth.
func lines(t *ast.Term, depth int64) (n, deepest int64) {
	count := func(t *ast.Term) {
		more, below := lines(t, depth+1)
		n, deepest = n+more, max(deepest, below)
	}
	n, deepest = 1, depth
	if s, ok := t.Value.(ast.String); ok {
		return 1 + int64(strings.Count(string(s), "\n")), depth
	}
	for _, member := range members(t) {
		count(member)
	}
	if object, ok := t.Value.(ast.Object); ok {
		object.Foreach(func(key, _ *ast.Term) { count(key) })
	}
	return n, deepest
}

// inUTC refuses any time zone except UTC, as other zones depend on the files of the machine.
func inUTC(m *meter, args []*ast.Term) int64 {
	for _, arg := range args {
		at, ok := arg.Value.(*ast.Array)
		if !ok || at.Len() < 2 {
			continue
		}
		if zone := text(at.Elem(1)); zone != "" && zone != "UTC" {
			m.refuse("uses the time zone %s, which not every machine knows; use UTC", strconv.Quote(cut(zone)))
		}
	}
	return 0
}

// zoneless refuses layouts with the name of a time zone, as the meaning of a name depends on the
// location of the machine.
func zoneless(m *meter, args []*ast.Term) int64 {
	named := []string{"UnixDate", "RFC822", "RFC850", "RFC1123"}
	if layout := text(args[0]); strings.Contains(layout, "MST") || slices.Contains(named, layout) {
		m.refuse("parses the name of a time zone, which means different times on different machines; use a numeric offset as in RFC3339")
	}
	return 0
}

// shifted refuses to make numbers whose digits would fill memory.
func shifted(m *meter, args []*ast.Term) int64 {
	const perDigit = 3 // bits, at least
	if n, ok := integer(args[1]); ok && n.Cmp(big.NewInt(maxDigits*perDigit)) > 0 {
		m.refuse("makes a number with more than %d digits", maxDigits)
	}
	return 0
}

// stepped bounds what numbers.range_step makes.
func stepped(m *meter, args []*ast.Term) size {
	made := counted(m, args)
	if by, ok := integer(args[2]); ok && by.Sign() > 0 && made.items > 0 && by.IsInt64() {
		made.items = (made.items-1)/by.Int64() + 1
	}
	return made
}
