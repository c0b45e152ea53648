package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// AlsoToMatch is shown at the second of two required affinity terms that conflict.
const AlsoToMatch = "one pod must match this term as well"

// FirstDefined is shown at the first of two equal keys.
func FirstDefined(key string) string { return key + " is first defined here" }

// LacksKey is the reason why a rule on a topology key does not count a node.
func LacksKey(key string) string { return fmt.Sprintf(exclusions[model.LacksLabel].one, key) }

// AtNode makes a statement about a node, with its pool if that has several nodes.
func AtNode(n *topology.Node, what string) string {
	if n.Pool != nil && n.Pool.Count > 1 {
		return fmt.Sprintf("pool %s: %s %s", n.Pool.Name, n.Name, what)
	}
	return n.Name + " " + what
}

// maxLabels bounds the labels that a phrase names.
const maxLabels = 4

// PodLabels is shown at the labels of a pod template.
func PodLabels(labels []string) string {
	text := "no labels"
	if len(labels) > 0 {
		text = strings.Join(labels[:min(maxLabels, len(labels))], ",")
	}
	if len(labels) > maxLabels {
		text += ",..."
	}
	return "the pods have the labels " + text
}

// namespaces lists the namespaces that a term applies to.
func namespaces(n *facts.Namespaces) string {
	parts := append([]string(nil), n.Names...)
	switch {
	case n.All:
		parts = append(parts, "all namespaces")
	case n.Selector != "":
		parts = append(parts, "namespaces that match "+n.Selector)
	}
	return strings.Join(parts, ", ")
}
