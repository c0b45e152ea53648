package config

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// kinds checks the rows about custom resources.
func (l *loader) kinds(list *source.Node, rows []kinds.Row) {
	seen := map[[2]string]bool{}
	for i, item := range list.Items() {
		row := &rows[i]
		name := fmt.Sprintf("kinds[%d]", i)
		row.Mistakes(func(at kinds.Place, why string) {
			span, path := l.node(item, at)
			l.fail(span, "%s%s: %s", name, path, why)
		})
		id := [2]string{row.Group, row.Kind}
		switch k, pods := item.Field("pods"); {
		case pods == nil:
			l.fail(l.at(item), "%s: expected pods, which is [] for a kind without pods", name)
		case pods.IsNull():
			l.fail(l.at(k), "%s.pods: expected a list, which is [] for a kind without pods", name)
		case seen[id]:
			l.fail(l.at(item), "%s: %s of %s is declared twice", name, row.Kind, row.Group)
		case workload.Knows(row.Group, row.Kind):
			l.fail(l.at(item), "%s: expected a custom resource, found %s of %s, which schedlint reads without a row", name, row.Kind, row.Group)
		}
		seen[id] = true
	}
}

// node returns the location of a value below a node, or of the part of the way that is there, and the
// path.
func (l *loader) node(n *source.Node, at kinds.Place) (diag.Span, string) {
	span := l.at(n)
	var path strings.Builder
	for _, step := range at {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&path, "[%d]", step)
			if items := n.Items(); step < len(items) {
				n = items[step]
				span = l.at(n)
			}
		case string:
			path.WriteString("." + step)
			k, v := n.Field(step)
			if n = v; k != nil {
				span = l.at(k)
			}
		}
	}
	return span, path.String()
}
