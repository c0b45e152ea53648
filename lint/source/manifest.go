package source

import (
	"bytes"
	"iter"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
)

// manifestKey matches the key apiVersion or kind at the start of a text.
var manifestKey = lazy.Regexp(`^(?:(?:apiVersion|kind)[ \t]*:(?:\s|$)|(?:"(?:apiVersion|kind)"|'(?:apiVersion|kind)')[ \t]*:)`)

// otherKind matches a kind in the form of Google APIs, such as discovery#restDescription.
var otherKind = lazy.Regexp(`^["']?kind["']?[ \t]*:[ \t]*["']?\w+#`)

func startsWithKey(text []byte) bool { return manifestKey().Match(text) && !otherKind().Match(text) }

// meansManifest reports whether a text that does not parse was meant to contain a Kubernetes
// object: apiVersion or kind is a top-level key of a document. This excludes dumps, logs, and files
// such as a tasks.json with comments.
func meansManifest(text []byte) bool {
	for part := range parts(text) {
		if meansObject(part) {
			return true
		}
	}
	return false
}

// unindented matches everything before the first key of a document: comments, including those of
// JavaScript, and the separator.
var unindented = lazy.Regexp(`^(?:[ \t]*(?:(?:#|//|/\*).*)?(?:\r\n?|\n|$)|%.*\n|---(?:[ \t]+(?:#.*)?)?(?:\r\n?|\n|$)|---[ \t]+)`)

// meansObject reports the same for one document. Its own keys are indented no more than the first
// one, or are in its outermost braces.
func meansObject(text []byte) bool {
	for m := unindented().Find(text); len(m) > 0; m = unindented().Find(text) {
		text = text[len(m):]
	}
	first := bytes.TrimLeft(text, " \t")
	if bytes.HasPrefix(first, []byte("{")) {
		return meansObjectInBraces(first)
	}
	indent := len(text) - len(first)
	for len(text) > 0 {
		key := bytes.TrimLeft(text, " \t")
		if len(text)-len(key) <= indent && startsWithKey(key) {
			return true
		}
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			return false
		}
		text = text[end+1:]
	}
	return false
}

// meansObjectInBraces reports the same for a document that begins with a brace. Quotes end with
// their line, because an unclosed quote may be the mistake.
func meansObjectInBraces(text []byte) bool {
	depth, begins := 0, false // begins is set where a key or a value may begin
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case begins && depth <= 1 && startsWithKey(text[i:]):
			return true
		case c == '"' || c == '\'' && begins:
			i += lineQuoted(text[i:]) - 1
			begins = false
		case comments(text, i):
			i += wordLen(text[i:], "\r\n") - 1
		case c == '{' || c == '[':
			depth++
			begins = true
		case c == '}' || c == ']':
			depth--
			begins = false
		default:
			begins = c == ',' || c == ':' || c == '\n' || c == '\r' || begins && (c == ' ' || c == '\t')
		}
	}
	return false
}

// comments reports whether a comment of YAML or JavaScript begins at an offset.
func comments(text []byte, at int) bool {
	if at > 0 && bytes.IndexByte([]byte(" \t\r\n"), text[at-1]) < 0 {
		return false
	}
	return text[at] == '#' || bytes.HasPrefix(text[at:], []byte("//")) || bytes.HasPrefix(text[at:], []byte("/*"))
}

// lineQuoted returns the length of a quoted text, which ends at the end of the line at the latest.
func lineQuoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n' || c == '\r':
			return i
		case c == '\\' && text[0] == '"':
			i++
		case c == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// manifestMention matches apiVersion or kind as a possible key in any notation, including escapes,
// explicit keys, and keys without a blank after them.
var manifestMention = lazy.Regexp(`(?:apiVersion|kind)["']?[ \t\r\n]*:|(?m:^[ \t-]*)\?[ \t]|\\(?:[uUx][0-9a-fA-F]|\n)[^"\n]*"[ \t]*:`)

// meantAsManifest reports the same for a document that parses but has no valid meaning.
func meantAsManifest(root *yaml.Node) bool {
	for i := 0; root.Kind == yaml.MappingNode && i < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key == "apiVersion" || key == "kind" {
			return true
		}
	}
	return false
}

// unquotedTemplate matches {{, {%, <% or the <# of FreeMarker where YAML would have to understand
// it: at the start of a line or of a value, or in brackets. In quotes, comments and block text it
// is data.
var unquotedTemplate = lazy.Regexp(`^[ \t]*(?:- +)*(?:` + unquoted + `*:[ \t]+|- +)?(?:[\[{]` + unquoted + `*)?(\{\{|\{%|<%|</?#[a-z-])`)

// unquoted matches one character of a line outside of comments, or a whole quoted text.
const unquoted = `(?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// jinjaComment matches a comment of Jinja, {# ... #}.
var jinjaComment = lazy.Regexp(`(?m)^` + unquoted + `*\{#(?:[^#]|#+[^#}])*#+\}`)

// blockStart matches a line after which block text may follow.
var blockStart = lazy.Regexp(`(?:^|[ :-])[|>][-+0-9]*[ \t]*(?:#.*)?\r?\n?$`)

// templateOpening returns the opening of the first template action in a text that does not parse:
// {{, {%, <% or <#, or {# for a comment of Jinja; "" if there is none. Lines count from 0.
func templateOpening(text []byte) (opening string, at int) {
	if !bytes.ContainsAny(text, "{<") {
		return "", 0
	}
	at = -1
	for line, inBlock := range blockLines(text) {
		at++
		if m := unquotedTemplate().FindSubmatch(line); m != nil && !inBlock {
			return string(m[1]), at
		}
	}
	if m := jinjaComment().FindIndex(text); m != nil {
		return "{#", bytes.Count(text[:m[0]], []byte("\n"))
	}
	return "", 0
}

// blockLines iterates over the lines of a text and reports for each whether it is block text.
func blockLines(text []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		block := -1 // indentation of the field of the current block text
		for line := range bytes.Lines(text) {
			rest := bytes.TrimLeft(line, " ")
			inBlock := block >= 0 && (len(line)-len(rest) > block || len(bytes.TrimSpace(rest)) == 0)
			if !yield(line, inBlock) {
				return
			}
			if inBlock {
				continue
			}
			block = -1
			if blockStart().Match(line) {
				for bytes.HasPrefix(rest, []byte("- ")) && bytes.Contains(rest, []byte(":")) {
					rest = bytes.TrimLeft(rest[1:], " ")
				}
				block = len(line) - len(rest)
			}
		}
	}
}

// ellipsis matches a line with only an indented "...": documentation uses it to omit a part, and it
// is invalid in YAML.
var ellipsis = lazy.Regexp(`(?m)^[ \t]+(?:- )?\.\.\.[ \t]*\r?$`)

// notRead returns the reason for leaving out a document that does not parse, or "" if it was meant
// to be a manifest, so that the error is a mistake. With strict set, only templates have a reason.
// line is the line of the template action, counted from 0, or -1.
func notRead(text []byte, strict bool) (skip string, line int) {
	switch opening, at := templateOpening(text); {
	case opening == "{{":
		return SkipTemplate, at
	case opening != "":
		return SkipOtherTemplate, at
	case ellipsis().Match(text):
		return SkipExcerpt, -1
	case !strict && !meansManifest(text):
		return SkipNoManifest, -1
	}
	return "", -1
}
