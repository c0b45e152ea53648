package pointers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// Text is YAML text with the positions of its lines.
type Text struct {
	Bytes []byte
	// File is the file in which the lines were written. Lines holds the YAML node for each line, or
	// nil if its position is unknown.
	File  string
	Lines []*source.Node
	// Unknown describes the unknown part of the text, such as a variable or an encrypted value. It
	// is empty if the whole text is known.
	Unknown string

	node *source.Node // the values as a node, or nil if they are written as text
}

// Sets reports whether t sets the dotted path in target. It also returns true if t sets a parent of
// the path to a value that is not a map.
func (t *Text) Sets(target string) bool {
	n := t.node
	for _, key := range strings.Split(target, ".") {
		if n.Kind != source.Map {
			return true
		}
		if _, n = n.Field(key); n == nil {
			return false
		}
	}
	return true
}

// Same reports whether t and other have the same content, regardless of key order.
func (t *Text) Same(other *Text) bool {
	switch {
	case t == nil || other == nil, t.Unknown != "" && !t.OnlyVariable():
		return false
	case t.node == nil || other.node == nil:
		return t.node == other.node && bytes.Equal(t.Bytes, other.Bytes)
	}
	return source.Equal(t.node, other.node)
}

// Matching returns the names that match a glob. The glob may contain **.
func Matching(names []string, glob string) (all []string) {
	for _, name := range names {
		if ok, err := doublestar.Match(glob, name); ok && err == nil {
			all = append(all, name)
		}
	}
	return all
}

// writer writes values as YAML, one scalar per line.
type writer struct {
	view *view
	out  bytes.Buffer
	text *Text
	over bool
}

// textOf returns the values in a node as text, or nil if the node is null.
func textOf(v *view, file string, n *source.Node) *Text {
	if n.IsNull() {
		return nil
	}
	w := &writer{view: v, text: &Text{File: file, node: n}}
	if n.Kind == source.Scalar {
		w.text.Unknown = "values that are no mapping"
		return w.text
	}
	w.value(n, nil, "", 0)
	if w.text.Bytes = w.out.Bytes(); w.over {
		w.text.Unknown = fmt.Sprintf("values beyond the limit of %d MiB, or of %d MiB in all, or of %d levels", limits.ReleaseText>>20, limits.ReleaseValues>>20, limits.Nesting)
	}
	return w.text
}

// value writes the value n after the text in "before", which is a key or the dash of a list item.
func (w *writer) value(n, key *source.Node, before string, depth int) {
	indent := strings.Repeat("  ", depth)
	switch {
	case w.over || depth > limits.Nesting:
		w.over = true
	case n == nil || n.Kind == source.Scalar || n.Len() == 0:
		at := w.view.place(n)
		if at == nil {
			key = nil
		}
		w.line(before+w.scalar(n), at, key)
	case n.Kind == source.Sequence:
		if before != "" {
			w.line(before, nil, key)
		}
		for _, item := range n.Items() {
			lead := indent + "- "
			if item == nil || item.Kind != source.Map || item.Len() == 0 {
				w.value(item, item, lead, depth+1)
				continue
			}
			for k, inner := range item.Fields() { // the first field of a map is on the line of the dash
				w.value(inner, k, lead+w.key(k)+": ", depth+2)
				lead = indent + "  "
			}
		}
	default:
		if before != "" {
			w.line(before, nil, key)
		}
		for k, inner := range n.Fields() {
			w.value(inner, k, indent+w.key(k)+": ", depth+1)
		}
	}
}

func (w *writer) line(text string, n, key *source.Node) {
	text = strings.TrimRight(text, " ")
	if w.out.Len()+len(text) >= limits.ReleaseText || !w.view.charge(len(text)+lineCost) {
		w.over = true
		return
	}
	w.out.WriteString(text + "\n")
	if n == nil || n.Line == 0 {
		n = w.view.place(key)
	}
	w.text.Lines = append(w.text.Lines, n)
}

// lineCost is the number of bytes that each line costs in addition to its text.
const lineCost = 32

func (w *writer) key(k *source.Node) string {
	if k.Quoted || k.Type == source.String {
		return quoted(w.filled(k))
	}
	return k.Value
}

// scalar writes a scalar, or an empty map or list.
func (w *writer) scalar(n *source.Node) string {
	switch {
	case n == nil:
		return "null"
	case n.Kind == source.Map:
		return "{}"
	case n.Kind == source.Sequence:
		return "[]"
	case n.IsNull():
		return "null"
	case n.Quoted || n.Type == source.String:
		return quoted(w.filled(n))
	}
	return n.Value
}

// filled returns the text of a scalar after the substitution of ApplicationSet parameters. A Flux
// variable or an encrypted value makes the text unknown.
func (w *writer) filled(n *source.Node) string {
	text := n.Value
	if w.view.fill != nil && strings.Contains(text, "{{") {
		var ok bool
		if text, ok = w.view.fill(text); !ok {
			w.text.Unknown = "a parameter that is not known"
		}
	}
	w.text.Unknown += unknownIn(w.text.Unknown, text)
	return text
}

// unknownIn describes the unknown part of a text. It returns "" if the whole text is known. It also
// returns "" if the argument "already" is not empty, because only the first unknown part is
// described.
func unknownIn(already, text string) string {
	switch {
	case already != "":
	case strings.HasPrefix(text, "ENC["):
		return "an encrypted value"
	case strings.Contains(text, "${"):
		return variableInValues
	}
	return ""
}

const variableInValues = "a variable, as ${NAME}"

// OnlyVariable reports whether variables are the only unknown part of the text. Without
// substitution, variables are plain text.
func (t *Text) OnlyVariable() bool { return t.Unknown == variableInValues }

// quoted returns text in double quotes. Its escapes are valid in both JSON and YAML.
func quoted(text string) string {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if to.Encode(text) != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\x7f", `\u007f`)
}

// BlockText returns the YAML text in a scalar. A line has a position only if the file contains the
// same line.
func BlockText(file *source.File, n *source.Node) *Text {
	t := &Text{Bytes: []byte(n.Text()), File: file.Name, Unknown: unknownIn("", n.Text())}
	if strings.HasPrefix(strings.TrimSpace(n.Text()), "sops:") || strings.Contains(n.Text(), "\nsops:") || strings.Contains(n.Text(), "ENC[AES") {
		t.Unknown = "an encrypted value"
	}
	if !strings.Contains(n.Text(), "\n") {
		t.Lines = []*source.Node{n}
		return t
	}
	within := source.NewFile(file.Name, file.Name, t.Bytes)
	for i := range bytes.Count(t.Bytes, []byte{'\n'}) + 1 {
		var at *source.Node
		if i < within.LineCount() {
			if s, ok := file.BlockSpan(n, within, within.LineSpan(i+1)); ok {
				at = &source.Node{Line: int32(s.Line), Column: int32(s.Column)}
			}
		}
		t.Lines = append(t.Lines, at)
	}
	return t
}

// Nested returns YAML that sets a single value at a dotted name, as Helm's --set flag does. If the
// argument "whole" is true, the value is a string. Nested returns false for names and values that
// are not simple.
func Nested(name, text string, whole bool) (values []byte, ok bool) {
	keys := strings.Split(name, ".")
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '/'
	}
	if slices.Contains(keys, "") || strings.ContainsFunc(strings.Join(keys, ""), strange) || len(keys) > limits.Nesting/2 {
		return nil, false
	}
	if !whole && (strings.ContainsAny(text, `\,`) || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
		return nil, false
	}
	var out bytes.Buffer
	for i, k := range keys {
		if i > 0 {
			out.WriteString(" {")
		}
		out.WriteString(quoted(k) + ":")
	}
	out.WriteByte(' ')
	value, ok := typed(text)
	if whole || !ok {
		value = quoted(text)
	}
	out.WriteString(value + strings.Repeat("}", len(keys)-1) + "\n")
	return out.Bytes(), true
}

// Escaped returns a value as Argo CD passes it to --set. Commas are escaped unless the value is a
// list in braces.
func Escaped(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	for i := range len(value) {
		if value[i] == ',' && (i == 0 || value[i-1] != '\\') {
			out.WriteByte('\\')
		}
		out.WriteByte(value[i])
	}
	return out.String()
}

// typed converts text that --set treats as a boolean, null or an integer without leading zeros. It
// returns false for other text, which --set treats as a string.
func typed(text string) (value string, ok bool) {
	if word := strings.ToLower(text); slices.Contains([]string{"true", "false", "null", "0"}, word) {
		return word, true
	}
	if text == "" || text[0] == '0' {
		return text, false
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return strconv.FormatInt(i, 10), err == nil
}

// view reads the values of a pointer. In an ApplicationSet template, it substitutes the parameters.
type view struct {
	fill func(text string) (string, bool)
	// open is set once the view has read an unknown value.
	open bool
	// made counts the bytes of chart values written so far. It is nil if they are not counted.
	made *int
}

// charge counts bytes and reports whether the total is still within the limit.
func (v *view) charge(bytes int) bool {
	if v.made == nil {
		return true
	}
	*v.made += bytes
	return *v.made <= limits.ReleaseValues
}

// text returns the text of a scalar, or "" if n is not a scalar. If the text contains a variable or
// an unknown parameter, text sets v.open.
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

// aside is like the method "text", but never sets v.open.
func (v *view) aside(n *source.Node) string {
	other := &view{fill: v.fill}
	if text := other.text(n); !other.open || v.fill == nil {
		return text
	}
	return n.Text()
}

// texts returns the items of a list as strings.
func (v *view) texts(n *source.Node) []string {
	return lists.Of(n.Items(), v.text)
}

// pairs returns the map in a node, with the text of each value.
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

// plain converts a node and everything below it to a value for encoding/json. Strings may still
// contain variables.
func (v *view) plain(n *source.Node) any {
	return n.Decoded(func(n *source.Node) any {
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
	})
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
	if err != nil { // for example because of a number that JSON cannot represent
		return []byte("{")
	}
	return text
}

// patchLines returns the line at which each inline patch begins. For a patch with a single line, it
// returns 0.
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
