package pointers

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// view reads values of a pointer. In the template of an ApplicationSet it puts values in
// place of parameters.
type view struct {
	fill func(text string) (string, bool)
	// open is set once a text was read that is not known.
	open bool
	// made counts what is written of values, nil for nothing.
	made *int
}

// charge reports whether there is room for some more bytes.
func (v *view) charge(bytes int) bool {
	if v.made == nil {
		return true
	}
	*v.made += bytes
	return *v.made <= limits.ReleaseValues
}

// text is a scalar as text, "" if there is none.
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

// aside is text of what need not be known.
func (v *view) aside(n *source.Node) string {
	other := &view{fill: v.fill}
	if text := other.text(n); !other.open || v.fill == nil {
		return text
	}
	return n.Text()
}

// texts are the items of a list.
func (v *view) texts(n *source.Node) (all []string) {
	for _, item := range n.Items() {
		all = append(all, v.text(item))
	}
	return all
}

// pairs are the fields of a map of strings.
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

// plain is a tree as encoding/json takes it. Texts in it may hold variables: those of
// patches are for whoever reads the result.
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

// fields are those of a kustomization that a pointer adds.
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

// text is the fields in JSON, nil if there are none.
func (f fields) text() []byte {
	if len(f) == 0 {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil { // as of a number that JSON has not
		return []byte("{")
	}
	return text
}

// patchLines are the lines at which the texts of patches begin.
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
