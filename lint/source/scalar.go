package source

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
)

// held matches placeholder syntax. Later tools replace ${X}, $X, $(X), {{ x }} and (@ x @). A
// person or a script replaces <x>, {x}, %X%, %%%, @X@ and __X__. None of the API fields that
// schedlint reads may contain a dollar sign.
var held = lazy.Regexp(`\$[{(A-Za-z_]|\{\{|\(@.*@\)|<[^<>=\s](?:[^<>\n]*[^<>\s,|])?>|\{[^{}\n]+\}|%[A-Za-z_][\w.-]*%|%{3}|^%[dqsv]$|@[A-Za-z_][\w.-]*@|\b__[A-Za-z]\w*__\b`)

// capitals matches several words in capitals, such as FILL THIS IN or NODE_COUNT. Placeholder
// ignores a match as short as A_B.
var capitals = lazy.Regexp(`^[A-Z]+(?:[ _][A-Z]+)+$`)

// constants lists API values. A word in capitals that resembles one of them is probably a
// misspelling rather than a placeholder. The last two are values of the node label
// eks.amazonaws.com/capacityType.
var constants = strings.Fields(`Always OnFailure Never Exists DoesNotExist In NotIn Gt Lt Equal NoSchedule PreferNoSchedule NoExecute
	DoNotSchedule ScheduleAnyway Honor Ignore TCP UDP SCTP RollingUpdate Recreate OnDelete OrderedReady Parallel Indexed NonIndexed
	PreemptLowerPriority IfHealthyBudget AlwaysAllow ON_DEMAND CAPACITY_BLOCK`)

// Placeholder reports whether a later tool or a person replaces the string. Such strings contain a
// variable or a placeholder, are "...", are encrypted by SOPS or computed by ytt, or ask to be
// replaced. Several words in capitals also count, unless they resemble an API value.
func Placeholder(text string) bool {
	return suspect(text) && held().MatchString(text) ||
		text == "..." || strings.HasPrefix(text, "ENC[") || strings.HasPrefix(text, yttSign) || asksForValue(text) ||
		len(text) > 3 && 'A' <= text[0] && text[0] <= 'Z' && capitals().MatchString(text) &&
			!slices.Contains(constants, text) && diag.Within(text, constants, 2) == ""
}

// suspect reports whether a string has a character of a variable, or "__". Most strings have none, and
// the loop takes a third of the time of strings.ContainsAny.
func suspect(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '$', '{', '<', '%', '@':
			return true
		case '_':
			if i > 0 && text[i-1] == '_' {
				return true
			}
		}
	}
	return false
}

// asksForValue reports whether a string asks the reader to replace it.
func asksForValue(text string) bool {
	words := []string{"changeme", "change-me", "change_me", "replaceme", "replace-me", "replace_me"}
	likely := len(text) >= len("changeme") && len(text) <= len("replace-me")
	return text == "TODO" || likely && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(text, w) }) ||
		len(text) > len("your--here") && strings.EqualFold(text[:4], "your") && strings.EqualFold(text[len(text)-4:], "here") && request().MatchString(text)
}

// request matches strings such as your-node-name-here.
var request = lazy.Regexp(`(?i)^your([ _-]\w+)+[ _-]here$`)

// numeral matches a word in capitals. Such a word is a placeholder where only a number is valid.
var numeral = lazy.Regexp(`^[A-Z][A-Z0-9_]+$`)

// PlaceholderOfNumber reports whether a node is a placeholder for a number. Besides the usual
// placeholders, this includes a word in capitals, such as PORT.
func (n *Node) PlaceholderOfNumber() bool {
	return n.Placeholder() || numeral().MatchString(n.Text())
}

// IsVariable reports whether a tool, rather than a person, replaces a placeholder before anything
// is deployed. This is the case for variables, template actions and values encrypted by SOPS.
func IsVariable(text string) bool {
	return strings.HasPrefix(text, yttSign) || strings.Contains(text, "(@") || strings.Contains(text, "${") || strings.Contains(text, "$(") || strings.Contains(text, "{{") || strings.HasPrefix(text, "ENC[")
}

// braced returns the placeholder {X} for a node. YAML reads {X} as a map with the key X and no
// value. X must be one word directly next to both braces.
func braced(y *yaml.Node) (text string, ok bool) {
	if y.Kind != yaml.MappingNode || y.Style != yaml.FlowStyle || len(y.Content) != 2 || y.Anchor != "" {
		return "", false
	}
	k, v := y.Content[0], y.Content[1]
	if k.Kind != yaml.ScalarNode || k.Style != 0 || k.Anchor != "" || k.Line != y.Line || k.Column != y.Column+1 || !word().MatchString(k.Value) {
		return "", false
	}
	return "{" + k.Value + "}", v.Kind == yaml.ScalarNode && v.Style == 0 && v.Anchor == "" && v.Value == "" && v.Line == k.Line && v.Column == k.Column+len(k.Value)
}

// word matches the word inside a placeholder such as {X}, which YAML does not read as a string.
var word = lazy.Regexp(`^[A-Za-z_][\w.-]*$`)

// hasBraceComma reports whether a text may contain a map that differs from a placeholder only by a
// comma: behind {X, stands the closing brace or nothing else on the line.
func hasBraceComma(text []byte) bool {
	for found := true; found; {
		_, text, found = bytes.Cut(text, []byte("{"))
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(text, string(inWords)), []byte(",")); ok {
			rest = bytes.TrimLeft(rest, " \t")
			if len(rest) == 0 || rest[0] >= utf8.RuneSelf || bytes.IndexByte([]byte("}#\r\n"), rest[0]) >= 0 { // line breaks of Unicode, too
				return true
			}
		}
	}
	return false
}

// signed matches placeholders that begin with a character of YAML syntax, at the start of an
// unquoted key or value.
var signed = lazy.Regexp(`(?:^[ \t]*(?:- +)*|[:\[{,] +|[\[,])(%+[A-Za-z_][\w.-]*%+|%{3,}|%[dqsv]\b|@[A-Za-z_][\w.-]*@|\{[A-Za-z_][\w.\[\]-]*\})`)

// signs returns the matches of signed in a line. Most lines with a brace hold {{...}} or a map with
// spaces, for which the expression would take most of the time of reading a file.
func signs(line []byte) [][]int {
	if bytes.ContainsAny(line, "%@") {
		return signed().FindAllSubmatchIndex(line, -1)
	}
	for rest := line; ; {
		_, after, found := bytes.Cut(rest, []byte("{"))
		if !found {
			return nil
		}
		if end := bytes.IndexAny(after, " {}"); end > 0 && after[end] == '}' {
			return signed().FindAllSubmatchIndex(line, -1)
		}
		rest = after
	}
}

// withPlainPlaceholders rewrites text that does not parse. It replaces each %X%, @X@ and {X} that
// YAML treats as syntax with <X>, and %%% with <->, so that all positions stay the same. The map
// named was has the original string for each replacement. plain is nil if nothing was replaced.
func withPlainPlaceholders(text []byte) (plain []byte, was map[string]string) {
	if !bytes.ContainsAny(text, "%@{") {
		return nil, nil
	}
	offset := 0
	for line, inBlock := range blockLines(text) {
		at, quote := 0, byte(0)
		for _, m := range signs(line) {
			from, to := m[2], m[3]
			for ; at < from && quote != '#'; at++ { // skip quotes and comments
				switch c := line[at]; {
				case quote == '"' && c == '\\':
					at++
				case quote == c:
					quote = 0
				case quote == 0 && (c == '"' || c == '\'' || c == '#'):
					quote = c
				}
			}
			after := bytes.TrimSpace(line[to:])
			next, _ := utf8.DecodeRune(after)
			switch {
			case inBlock || quote != 0:
				continue
			case line[from] == '{' && !bytes.ContainsAny(line[from:to], "[]") && (len(after) == 0 || strings.ContainsRune(",]}#:", next)): // a map, or a mistake in a map
				continue
			case line[from] == '@' && (unicode.IsLetter(next) || unicode.IsDigit(next)): // such as @me@example.com
				continue
			}
			if plain == nil {
				plain, was = bytes.Clone(text), map[string]string{}
			}
			angled := plain[offset+from : offset+to]
			copy(angled, bytes.ReplaceAll(angled, []byte("%"), []byte("-")))
			angled[0], angled[len(angled)-1] = '<', '>'
			was[string(angled)] = string(line[from:to])
		}
		offset += len(line)
	}
	return plain, was
}

// filled matches a line that contains only a placeholder. Typically, a script replaces such a line
// with fields.
var filled = lazy.Regexp(`^[ \t]*(?:<[^<>\n]+>|\$\{[^{}\n]+\}|\$[A-Za-z_]\w*|%+[A-Za-z_][\w.-]*%+|%{3,}|@[A-Za-z_][\w.-]*@|__[A-Za-z]\w*__|\{[A-Za-z_][\w.]*\})[ \t]*\r?\n?$`)

// lacksOnlyLines reports whether the text becomes valid YAML once the lines that contain only a
// placeholder are removed.
func lacksOnlyLines(text []byte) bool {
	if !bytes.ContainsAny(text, "<$%@_{") {
		return false
	}
	rest := make([]byte, 0, len(text))
	for line, inBlock := range blockLines(text) {
		if inBlock || !filled().Match(line) {
			rest = append(rest, line...)
		}
	}
	if len(rest) == len(text) {
		return false
	}
	failed, _ := decodeAll(rest, func(*yaml.Node) bool { return true })
	return !failed
}

// variableText is the value of scalars that are unknown.
const variableText = "${unknown}"

// Variable returns a scalar with an unknown value and the position of n.
func (n *Node) Variable() *Node {
	v := &Node{Value: variableText, Type: String, Shared: true}
	if n != nil {
		v.Line, v.Column = n.Line, n.Column
	}
	return v
}

// Replace returns a copy of a map in which an existing field has the given value.
func (n *Node) Replace(name string, value *Node) *Node {
	c := *n
	in := n.opened()
	if in == nil {
		return &c
	}
	content := slices.Clone(in.nodes)
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == name {
			content[i+1] = value
		}
	}
	c.inside = &inside{nodes: content, index: in.index}
	return &c
}

// Without returns a copy of a map that lacks a field.
func (n *Node) Without(name string) *Node {
	c := *n
	c.inside = &inside{}
	for k, v := range n.Fields() {
		if k.Value != name {
			c.inside.nodes = append(c.inside.nodes, k, v)
		}
	}
	return &c
}

// With returns a copy of a map with one more field. The new key gets the position of the node at,
// because it is not in the file.
func (n *Node) With(name string, value, at *Node) *Node {
	key := &Node{Value: name, Type: String, Shared: true}
	if at != nil {
		key.Line, key.Column = at.Line, at.Column
	}
	c := *n
	c.inside = &inside{nodes: append(slices.Clip(n.content()), key, value)}
	return &c
}

// Among returns a copy of a list in which the given item replaces item i.
func (n *Node) Among(i int, item *Node) *Node {
	c := *n
	c.inside = &inside{nodes: slices.Clone(n.content())}
	c.inside.nodes[i] = item
	return &c
}

// Emptied returns a copy of a map or a list without its contents.
func (n *Node) Emptied() *Node {
	c := *n
	c.inside = nil
	return &c
}

// Digester hashes nodes so that equal nodes have equal sums. It finds candidates for Equal without
// comparing all pairs of nodes. The seed is random, so that an attacker cannot provoke collisions.
type Digester struct{ seed maphash.Seed }

// NewDigester returns a Digester with a random seed. Sums of different Digesters are not
// comparable.
func NewDigester() *Digester { return &Digester{maphash.MakeSeed()} }

// Sum returns the hash of a node. It ignores positions, quoting and field order.
func (d *Digester) Sum(n *Node) uint64 {
	if n.IsNull() {
		return 1
	}
	sum := uint64(n.Kind)<<8 + uint64(n.Type) + 2
	switch n.Kind {
	case Scalar:
		return d.mix(sum, maphash.String(d.seed, canonical(n)))
	case Map:
		for k, v := range n.Fields() {
			sum += d.mix(maphash.String(d.seed, k.Value), d.Sum(v))
		}
		return d.mix(sum, uint64(n.Len()))
	}
	for _, item := range n.Items() {
		sum = d.mix(sum, d.Sum(item))
	}
	return sum
}

func (d *Digester) mix(a, b uint64) uint64 { return maphash.Comparable(d.seed, [2]uint64{a, b}) }

// canonical returns the same string for all equal scalars.
func canonical(n *Node) string {
	switch n.Type {
	case Bool:
		return strconv.FormatBool(n.truth())
	case Int:
		if i, ok := n.Int(); ok {
			return strconv.FormatInt(i, 10)
		}
	case Float:
		if f, ok := n.float(); ok && !math.IsNaN(f) { // NaN does not equal anything
			return strconv.FormatFloat(f+0, 'g', -1, 64) // turns -0 into 0
		}
	}
	return n.Value
}

// words lists plain scalars that YAML 1.1 reads as a boolean or null, including y and n. It
// matches kubectl's decoder (go-yaml v2, resolve.go).
var words = map[string]Type{
	"y": Bool, "Y": Bool, "yes": Bool, "Yes": Bool, "YES": Bool,
	"n": Bool, "N": Bool, "no": Bool, "No": Bool, "NO": Bool,
	"true": Bool, "True": Bool, "TRUE": Bool, "false": Bool, "False": Bool, "FALSE": Bool,
	"on": Bool, "On": Bool, "ON": Bool, "off": Bool, "Off": Bool, "OFF": Bool,
	"": Null, "~": Null, "null": Null, "Null": Null, "NULL": Null,
	".nan": Float, ".NaN": Float, ".NAN": Float,
	".inf": Float, ".Inf": Float, ".INF": Float,
	"+.inf": Float, "+.Inf": Float, "+.INF": Float,
	"-.inf": Float, "-.Inf": Float, "-.INF": Float,
}

// yamlFloat matches the floats that go-yaml v2 accepts.
var yamlFloat = lazy.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolvePlain returns the type of an untagged plain scalar.
func resolvePlain(s string) Type {
	if s == "" {
		return Null
	}
	switch c := s[0]; {
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		return words[s] // String is the zero Type
	case c != '.' && c != '+' && c != '-' && (c < '0' || c > '9'):
		return String
	case c < '0':
		if t, ok := words[s]; ok {
			return t
		}
	}
	if !numeric(s) {
		return String
	}
	if s[0] == '.' {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
		return String
	}
	if _, ok := parseInt(s); ok {
		return Int
	}
	return resolveNumber(strings.ReplaceAll(s, "_", ""))
}

// numeric reports whether a string contains only characters that occur in numbers. Most strings
// that begin with a digit contain other characters, such as 100m.
func numeric(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		case strings.IndexByte("+-._xXoO", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// resolveNumber returns the type of a string that may be a number. The number may be outside the
// range of int64.
func resolveNumber(s string) Type {
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return Int
	}
	if yamlFloat().MatchString(s) {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
	}
	return String
}

// parseInt parses an integer like go-yaml v2: underscores may be anywhere, a sign may follow 0b,
// and a leading 0 means octal.
func parseInt(s string) (int64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	i, err := strconv.ParseInt(s, 0, 64)
	if err == nil {
		return i, true
	}
	if bits, ok := strings.CutPrefix(s, "0b"); ok { // with a sign after it
		i, err = strconv.ParseInt(bits, 2, 64)
	}
	return i, err == nil
}

// resolveTag returns the type of a scalar with an explicit tag. A tag that does not fit the value
// is ignored.
func resolveTag(tag, value string) Type {
	plain := resolvePlain(value)
	switch tag {
	case "!!int", "!!bool", "!!null":
		if tag == tags[plain] {
			return plain
		}
	case "!!float":
		if plain == Int || plain == Float {
			return Float
		}
	}
	return String
}

var tags = map[Type]string{Int: "!!int", Bool: "!!bool", Null: "!!null"}

// Limits on quantities. Kubernetes has no such limits and computes with all digits of a quantity.
// For 1e-100000000 this takes hours and gigabytes. Quantities that Kubernetes itself writes have at
// most 19 digits and exponents from -9 to 18.
const (
	maxQuantityLength   = 64
	maxQuantityExponent = 100
)

// quantityType is the name of the quantity type, whose values are decoded only if they are within
// the limits.
const quantityType = "Quantity"

// quantityWithin describes the limits of a quantity in messages.
var quantityWithin = "quantity of at most " + strconv.Itoa(maxQuantityLength) + " characters with an exponent from -" +
	strconv.Itoa(maxQuantityExponent) + " to " + strconv.Itoa(maxQuantityExponent)

// Unwieldy reports whether a quantity exceeds the limits. Callers must check every quantity before
// they pass it to the Kubernetes library.
func Unwieldy(quantity string) bool {
	quantity = strings.TrimSpace(quantity) // as the Kubernetes library does
	if len(quantity) > maxQuantityLength {
		return true
	}
	at := strings.LastIndexAny(quantity, "eE")
	if at < 0 {
		return false
	}
	digits := strings.TrimLeft(quantity[at+1:], "+-0")
	if digits == "" || strings.Trim(digits, "0123456789") != "" { // either a suffix such as Ei, or not a quantity
		return false
	}
	n, err := strconv.Atoi(digits)
	return err != nil || n > maxQuantityExponent
}
