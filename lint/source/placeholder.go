package source

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
)

// held finds what makes a text a placeholder: ${X}, $X, $(X), {{ x }} and (@ x @) of later
// tools; <x>, {x}, %X%, %%%, @X@ and __X__, which somebody or a script replaces. No field of
// the API that is read here may hold a dollar sign.
var held = lazy.Regexp(`\$[{(A-Za-z_]|\{\{|\(@.*@\)|<[^<>=\s](?:[^<>\n]*[^<>\s,|])?>|\{[^{}\n]+\}|%[A-Za-z_][\w.-]*%|%{3}|^%[dqsv]$|@[A-Za-z_][\w.-]*@|\b__[A-Za-z]\w*__\b`)

// capitals is a text of several words in capitals, as FILL THIS IN or NODE_COUNT; A_B is
// too short for one.
var capitals = lazy.Regexp(`^[A-Z]+(?:[ _][A-Z]+)+$`)

// constants are values of the API that a text in capitals may misspell. The last two are
// values of the node label eks.amazonaws.com/capacityType.
var constants = strings.Fields(`Always OnFailure Never Exists DoesNotExist In NotIn Gt Lt Equal NoSchedule PreferNoSchedule NoExecute
	DoNotSchedule ScheduleAnyway Honor Ignore TCP UDP SCTP RollingUpdate Recreate OnDelete OrderedReady Parallel Indexed NonIndexed
	PreemptLowerPriority IfHealthyBudget AlwaysAllow ON_DEMAND CAPACITY_BLOCK`)

// Placeholder reports whether a text stands for a value that something else fills in: it
// holds a variable or a placeholder, is "...", encrypted by SOPS or computed by ytt, asks to be
// replaced, or is several words in capitals that no value of the API is within two edits of.
func Placeholder(text string) bool {
	return (strings.ContainsAny(text, "${<%@") || strings.Contains(text, "__")) && held().MatchString(text) ||
		text == "..." || strings.HasPrefix(text, "ENC[") || strings.HasPrefix(text, yttSign) || asksForValue(text) ||
		len(text) > 3 && 'A' <= text[0] && text[0] <= 'Z' && capitals().MatchString(text) &&
			!slices.Contains(constants, text) && diag.Within(text, constants, 2) == ""
}

// asksForValue reports whether a text says that somebody has to replace it.
func asksForValue(text string) bool {
	words := []string{"changeme", "change-me", "change_me", "replaceme", "replace-me", "replace_me"}
	return text == "TODO" || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(text, w) }) ||
		len(text) > len("your--here") && strings.EqualFold(text[:4], "your") && strings.EqualFold(text[len(text)-4:], "here") && request().MatchString(text)
}

// request is a text such as your-node-name-here.
var request = lazy.Regexp(`(?i)^your([ _-]\w+)+[ _-]here$`)

// numeral is a word in capitals, which stands for the value where only a number is legal.
var numeral = lazy.Regexp(`^[A-Z][A-Z0-9_]+$`)

// PlaceholderOfNumber reports whether a node stands for a number that something else fills
// in: it is a placeholder, or a word in capitals such as PORT.
func (n *Node) PlaceholderOfNumber() bool {
	return n.Placeholder() || numeral().MatchString(n.Text())
}

// IsVariable reports whether a placeholder is in the syntax of a tool, which fills it in
// before anything is deployed: a variable, a template action or a value that SOPS encrypts.
func IsVariable(text string) bool {
	return strings.HasPrefix(text, yttSign) || strings.Contains(text, "(@") || strings.Contains(text, "${") || strings.Contains(text, "$(") || strings.Contains(text, "{{") || strings.HasPrefix(text, "ENC[")
}

// braced returns {X}, which YAML reads as a map with the key X and no value, as the text
// that it is where X is one word next to both braces.
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

// word is what stands between the signs of a placeholder that YAML does not take for text.
var word = lazy.Regexp(`^[A-Za-z_][\w.-]*$`)

// braceComma finds a map that a comma alone tells from a placeholder.
var braceComma = lazy.Regexp(`\{[A-Za-z_][\w.-]*, ?\}`)

// signed finds placeholders at the start of a key or value without quotes, where YAML
// takes their first character for syntax.
var signed = lazy.Regexp(`(?:^[ \t]*(?:- +)*|[:\[{,] +|[\[,])(%+[A-Za-z_][\w.-]*%+|%{3,}|%[dqsv]\b|@[A-Za-z_][\w.-]*@|\{[A-Za-z_][\w.\[\]-]*\})`)

// withPlainPlaceholders is a text that the parser does not take, with <X> in place of
// each %X%, @X@ and {X} that it takes for syntax, and <-> of %%%, which moves nothing; and what stands
// there by what takes its place. Nil if there are none.
func withPlainPlaceholders(text []byte) (plain []byte, was map[string]string) {
	if !bytes.ContainsAny(text, "%@{") {
		return nil, nil
	}
	offset := 0
	for line, inBlock := range blockLines(text) {
		at, quote := 0, byte(0)
		for _, m := range signed().FindAllSubmatchIndex(line, -1) {
			from, to := m[2], m[3]
			for ; at < from && quote != '#'; at++ { // of quotes and comments
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
			case line[from] == '{' && !bytes.ContainsAny(line[from:to], "[]") && (len(after) == 0 || strings.ContainsRune(",]}#:", next)): // a map, or a mistake in one
				continue
			case line[from] == '@' && (unicode.IsLetter(next) || unicode.IsDigit(next)): // as in @me@example.com
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

// filled is a line that holds nothing but a placeholder, which a script replaces by fields.
var filled = lazy.Regexp(`^[ \t]*(?:<[^<>\n]+>|\$\{[^{}\n]+\}|\$[A-Za-z_]\w*|%+[A-Za-z_][\w.-]*%+|%{3,}|@[A-Za-z_][\w.-]*@|__[A-Za-z]\w*__|\{[A-Za-z_][\w.]*\})[ \t]*\r?\n?$`)

// lacksOnlyLines reports whether a text that is not YAML is once the lines that hold nothing
// but a placeholder are taken out.
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
