package rego

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// necessary maps the name of a list of facts to the bodies of built-in rules that read the list.
// Each body is stored as its conditions. If a row meets the conditions of no body, no built-in rule
// reports the row.
type necessary map[string][][]condition

// condition compares a field of a row with constants or with another field.
type condition struct {
	field, operator string
	// other is the name of the field to compare with. If other is empty, the field is compared with
	// the constants and must equal one of them.
	other     string
	constants []any // each a string, float64 or bool
}

// bodiesOf extracts the conditions from a rule's source. It does not parse the source, because
// parsing would take too long. It recognizes bodies that start with the following two lines and
// continue with one comparison per line:
//
//	report contains result.reason(rego.metadata.chain(), row, "...") if {
//		some row in input.LIST
//
// It skips lines that are not comparisons. If the rule uses a list in any other way, bodiesOf adds
// a body without conditions for the list.
func bodiesOf(text string) necessary {
	all := necessary{}
	for list := range listsOf(text).paths {
		uses, bodies := 0, [][]condition(nil)
		for i := range text {
			if rest, ok := strings.CutPrefix(text[i:], "input."+list); ok && (rest == "" || !inName(rest[0])) {
				uses++
			}
		}
		for _, part := range strings.Split(text, "\nreport contains ")[1:] {
			head, body, _ := strings.Cut(part, "\n")
			body, _, ended := strings.Cut(body, "\n}\n")
			first, rest, _ := strings.Cut(body, "\n")
			if ended && strings.HasSuffix(head, " if {") && strings.Contains(head, ", row, ") && first == "\tsome row in input."+list {
				bodies = append(bodies, conditionsIn(rest))
			}
		}
		if len(bodies) != uses {
			bodies = [][]condition{nil}
		}
		all[list] = bodies
	}
	return all
}

// conditionsIn parses the conditions in a body, one per line.
func conditionsIn(body string) (all []condition) {
	for line := range strings.SplitSeq(body, "\n") {
		line, ok := strings.CutPrefix(line, "\t")
		if !ok || strings.HasPrefix(line, "\t") {
			continue // for example, a line inside a comprehension
		}
		if c, ok := conditionOf(strings.Fields(line), line); ok {
			all = append(all, c)
		}
	}
	return all
}

// conditionOf parses a line, already split into words, as a comparison.
func conditionOf(words []string, line string) (c condition, ok bool) {
	switch {
	case len(words) == 1:
		c.field, ok = fieldOf(words[0])
		c.operator, c.constants = "!=", []any{false}
		return c, ok
	case len(words) == 2 && words[0] == "not":
		c.field, ok = fieldOf(words[1])
		c.operator, c.constants = "==", []any{false}
		return c, ok
	case len(words) < 3:
		return c, false
	}
	if c.field, ok = fieldOf(words[0]); !ok {
		return c, false
	}
	c.operator = words[1]
	operand := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, words[0]+" "), c.operator))
	switch {
	case c.operator == "in" && strings.HasPrefix(operand, "{") && strings.HasSuffix(operand, "}"):
		c.operator = "=="
		return c, json.Unmarshal([]byte("["+operand[1:len(operand)-1]+"]"), &c.constants) == nil
	case !slices.Contains([]string{"==", "!=", "<", ">", "<=", ">="}, c.operator):
		return c, false
	}
	if c.other, ok = fieldOf(operand); ok {
		return c, true
	}
	return c, json.Unmarshal([]byte("["+operand+"]"), &c.constants) == nil && len(c.constants) == 1
}

// fieldOf returns NAME if word has the form row.NAME.
func fieldOf(word string) (name string, ok bool) {
	name, ok = strings.CutPrefix(word, "row.")
	for i := range len(name) {
		ok = ok && inName(name[i])
	}
	if !ok || name == "" {
		return "", false
	}
	return name, true
}

// Wants reports whether any rule could report a row of the given list. The fields argument holds
// the row's known fields as alternating names and values. Wants assumes that custom rules, pack
// rules and template instances could report any row. It also counts built-in rules that are off.
// Otherwise, turning off one rule could change the findings of another.
func (e *Engine) Wants(list string, fields ...any) bool {
	for i, value := range fields {
		switch v := value.(type) {
		case diag.Outcome:
			fields[i] = string(v)
		case int:
			fields[i] = float64(v)
		}
	}
	return slices.ContainsFunc(e.conditions()[list], func(body []condition) bool {
		return !slices.ContainsFunc(body, func(c condition) bool { return c.fails(fields) })
	})
}

// bodies collects the conditions of all core rules. Any other rule could report any row. bodies
// therefore adds a body without conditions to each list that such a rule reads.
func (e *Engine) bodies() necessary {
	all := necessary{}
	lists := factLists(&facts.Facts{})
	for _, r := range e.rules {
		switch {
		case r.isTemplate():
		case r.outsideCore():
			for _, list := range lists {
				if !r.off && r.reads.has(list.name) {
					all[list.name] = append(all[list.name], nil)
				}
			}
		default:
			for list, bodies := range bodiesOf(r.text) {
				all[list] = append(all[list], bodies...)
			}
		}
	}
	return all
}

// fails reports whether a row with the given fields is certain to violate the condition.
func (c *condition) fails(fields []any) bool {
	left, ok := valueOf(fields, c.field)
	if !ok {
		return false
	}
	constants := c.constants
	if c.other != "" {
		other, ok := valueOf(fields, c.other)
		if !ok {
			return false
		}
		constants = []any{other}
	}
	return !slices.ContainsFunc(constants, func(right any) bool { return compared(left, c.operator, right) })
}

func valueOf(fields []any, name string) (any, bool) {
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == name {
			return fields[i+1], true
		}
	}
	return nil, false
}

// compared applies a comparison operator to two values. Values of different types are never equal.
// An ordering comparison of different types counts as true.
func compared(left any, operator string, right any) bool {
	order := 0
	switch l := left.(type) {
	case string:
		r, ok := right.(string)
		if !ok {
			return operator != "=="
		}
		order = cmp.Compare(l, r)
	case float64:
		r, ok := right.(float64)
		if !ok {
			return operator != "=="
		}
		order = cmp.Compare(l, r)
	default:
		return (left == right) == (operator != "!=") || operator != "==" && operator != "!="
	}
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// reads records which fields of the facts a rule may read.
type reads struct {
	all bool
	// paths maps the dotted path of each field that the rule reads, such as
	// workloads.containers.image. The value is true if the rule reads everything below the field.
	paths map[string]bool
}

// readsOf finds the lists that a built-in rule refers to as input.<list>. It searches the source
// text, because parsing the rule would take longer. It may return lists that the rule does not
// read, but it never misses a list. If input appears in any other form, readsOf returns all lists.
func readsOf(text string) reads {
	r := reads{paths: map[string]bool{}}
	if at := strings.Index(text, "\npackage "); at >= 0 {
		text = text[at:] // skip comments before the package clause
	}
	for at := 0; ; at++ {
		next := strings.Index(text[at:], "input")
		if next < 0 {
			return r
		}
		at += next
		if at > 0 && (inName(text[at-1]) || text[at-1] == '.') {
			continue
		}
		after, dotted := strings.CutPrefix(text[at+len("input"):], ".")
		end := 0
		for end < len(after) && inName(after[end]) {
			end++
		}
		if dotted {
			r.paths[after[:end]] = true
		} else if end == 0 { // otherwise, this is a longer name that starts with "input"
			r.all = true
		}
	}
}

func inName(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// has reports whether the rule reads the list or field at a path, or anything below it. It also
// returns true if the rule reads everything below a parent of the path.
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

// lists returns the sorted names of all lists that the rule reads in full or in part.
func (r *reads) lists() []string {
	var all []string
	for path := range r.paths {
		list, _, _ := strings.Cut(path, ".")
		all = append(all, list)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Reads returns the lists of facts that a rule may read. It returns nil if the rule does not exist,
// is off, or may read every list.
func (e *Engine) Reads(id string) []string {
	r := e.find(id)
	if r == nil || r.off || r.reads.all {
		return nil
	}
	return r.reads.lists()
}

// MayRead reports whether a rule may read the field at a path, or anything below the field. A path
// is a dotted list of keys, such as workloads.answers.survives. MayRead returns false if the rule
// is off.
func (e *Engine) MayRead(id, path string) bool {
	r := e.find(id)
	return r != nil && !r.off && r.reads.has(path)
}
