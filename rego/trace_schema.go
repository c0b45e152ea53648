package rego

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/facts"
)

// node is a place in the schema of the facts. The rows of a list have the path of the list, and
// values under arbitrary keys have the path of their map.
type node struct {
	path   string
	kind   string // of JSON Schema; "" for any
	enum   []string
	fields map[string]*node
	items  *node // of an array
	rest   *node // under keys that are not in fields; nil in a closed object
}

// factsNode returns the root of the facts, which never changes.
var factsNode = sync.OnceValue(func() *node { return newNode("", facts.Schema()) })

// newNode reads a schema, which is part of the program.
func newNode(path string, schema []byte) *node {
	var s struct {
		Type       any                        `json:"type"`
		Enum       []any                      `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Rest       json.RawMessage            `json:"additionalProperties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic("rego: the schema of the facts: " + err.Error())
	}
	n := &node{path: path, fields: map[string]*node{}}
	n.kind, _ = s.Type.(string)
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			n.enum = append(n.enum, text)
		}
	}
	for key, schema := range s.Properties {
		n.fields[key] = newNode(beneath(path, key), schema)
	}
	if n.kind == "array" {
		n.items = innerNode(path, s.Items)
	}
	if n.kind == "object" && string(s.Rest) != "false" {
		n.rest = innerNode(path, s.Rest)
	}
	return n
}

// innerNode returns the node of members, which is any value if the schema does not describe them.
func innerNode(path string, schema json.RawMessage) *node {
	if len(schema) == 0 || string(schema) == "true" {
		return &node{path: path}
	}
	return newNode(path, schema)
}

func beneath(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// child returns the node under a key, or nil if there can be nothing.
func (n *node) child(key string) *node {
	switch {
	case n.kind == "":
		return n
	case n.kind == "array":
		return n.items
	case n.fields[key] != nil:
		return n.fields[key]
	}
	return n.rest
}

// closed reports whether the keys of n are known.
func (n *node) closed() bool { return n.kind == "object" && n.rest == nil }

// scalar reports whether nothing is below n.
func (n *node) scalar() bool { return n.kind != "" && n.kind != "array" && n.kind != "object" }

// keys returns the fields of n, sorted.
func (n *node) keys() []string { return slices.Sorted(maps.Keys(n.fields)) }

// within returns the members of an array or an object, in order of their keys.
func (n *node) within() []*node {
	var all []*node
	switch {
	case n.kind == "":
		return []*node{n}
	case n.items != nil:
		all = append(all, n.items)
	case n.rest != nil:
		all = append(all, n.rest)
	}
	for _, key := range n.keys() {
		all = append(all, n.fields[key])
	}
	return all
}

// name returns the name of n for messages.
func (n *node) name() string {
	if n.path == "" {
		return "input"
	}
	return "input." + n.path
}

// valid describes which keys n has, and which of them a key probably means.
func (n *node) valid(key string) string {
	return fmt.Sprintf("%q does not exist in %s%s; there are %s", key, n.name(), near(key, n.keys()), strings.Join(n.keys(), ", "))
}
