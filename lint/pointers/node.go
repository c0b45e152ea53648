package pointers

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// view reads values of a pointer. In the template of an ApplicationSet it replaces parameters with
// their values.
type view struct {
	fill func(text string) (string, bool)
	// open is set once it has read an unknown text.
	open bool
	// made counts the bytes of values that are written; nil does not count.
	made *int
}

// charge counts some more bytes and reports whether the limit holds.
func (v *view) charge(bytes int) bool {
	if v.made == nil {
		return true
	}
	*v.made += bytes
	return *v.made <= limits.ReleaseValues
}

// text returns the text of a scalar, or "" if there is none.
func (v *view) text(n *source.Node) string {
	if n.IsNull() || n.Kind != source.Scalar {
		return ""
	}
	text := n.Value
	if v.fill != nil {
		filled, ok := v.fill(text)
		v.open = v.open || !ok
		return filled
	}
	if source.IsVariable(n.Value) {
		v.open = true
	}
	return text
}

// aside returns a text that may be unknown without making the source unknown.
func (v *view) aside(n *source.Node) string {
	other := &view{fill: v.fill}
	if text := other.text(n); !other.open || v.fill == nil {
		return text
	}
	return n.Text()
}

// texts returns the items of a list.
func (v *view) texts(n *source.Node) (all []string) {
	for _, item := range n.Items() {
		all = append(all, v.text(item))
	}
	return all
}

// pairs returns the fields of a map of strings.
func (v *view) pairs(n *source.Node) map[string]string {
	if n.Len() == 0 || n.Kind != source.Map {
		return nil
	}
	all := map[string]string{}
	for key, value := range n.Fields() {
		all[key.Value] = v.text(value)
	}
	return all
}

func truth(n *source.Node) bool {
	value, ok := n.Bool()
	return ok && value
}

// plain returns a tree in the form that encoding/json takes. Texts in it may contain variables: in
// patches, whoever reads the result handles them.
func (v *view) plain(n *source.Node) any {
	switch {
	case n.IsNull():
		return nil
	case n.Kind == source.Map:
		all := map[string]any{}
		for key, value := range n.Fields() {
			all[key.Value] = v.plain(value)
		}
		return all
	case n.Kind == source.Sequence:
		all := []any{}
		for _, item := range n.Items() {
			all = append(all, v.plain(item))
		}
		return all
	}
	if b, ok := n.Bool(); ok {
		return b
	}
	if i, ok := n.Int(); ok {
		return i
	}
	if n.Type == source.Float {
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return f
		}
	}
	if v.fill != nil {
		return v.text(n)
	}
	return n.Value
}

// fields are the fields that a pointer adds to a kustomization.
type fields map[string]any

func (f fields) set(name string, value any) {
	switch value := value.(type) {
	case nil:
	case string:
		if value != "" {
			f[name] = value
		}
	default:
		f[name] = value
	}
}

// text returns the fields as JSON, or nil if there are none.
func (f fields) text() []byte {
	if len(f) == 0 {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil { // such as for a number that JSON cannot represent
		return []byte("{")
	}
	return text
}

// patchLines returns the lines at which the texts of patches begin.
func patchLines(patches *source.Node) (lines []int) {
	for _, item := range patches.Items() {
		line := 0
		if patch := item.Get("patch"); strings.Contains(patch.Text(), "\n") {
			line = int(patch.Line)
		}
		lines = append(lines, line)
	}
	return lines
}
