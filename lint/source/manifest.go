package source

import (
	"bytes"
	"iter"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
)

// manifestKey is the key apiVersion or kind at the start of a text.
var manifestKey = lazy.Regexp(`^(?:(?:apiVersion|kind)[ \t]*:(?:\s|$)|(?:"(?:apiVersion|kind)"|'(?:apiVersion|kind)')[ \t]*:)`)

// otherKind is a kind as the APIs of Google have it, as in discovery#restDescription.
var otherKind = lazy.Regexp(`^["']?kind["']?[ \t]*:[ \t]*["']?\w+#`)

func startsWithKey(text []byte) bool { return manifestKey().Match(text) && !otherKind().Match(text) }

// meansManifest reports whether a text that does not parse was meant to hold a Kubernetes
// object: apiVersion or kind is a key of a document itself, and of nothing in it. A dump, a
// log or a tasks.json with comments was not.
func meansManifest(text []byte) bool {
	for part := range parts(text) {
		if meansObject(part) {
			return true
		}
	}
	return false
}

// unindented is what stands before the first key of a document: comments, those of
// JavaScript too, and the separator.
var unindented = lazy.Regexp(`^(?:[ \t]*(?:(?:#|//|/\*).*)?(?:\r\n?|\n|$)|%.*\n|---(?:[ \t]+(?:#.*)?)?(?:\r\n?|\n|$)|---[ \t]+)`)

// meansObject reports the same of one document. Its own keys are indented no more than the
// first, or in its outermost braces.
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

// meansObjectInBraces reports the same of a document that begins with a brace. Quotes end
// with their line, as one that was never closed may be the mistake.
func meansObjectInBraces(text []byte) bool {
	depth, begins := 0, false // begins is set where a key or a value may
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

// comments reports whether a comment begins at an offset of a text, of YAML or JavaScript.
func comments(text []byte, at int) bool {
	if at > 0 && bytes.IndexByte([]byte(" \t\r\n"), text[at-1]) < 0 {
		return false
	}
	return text[at] == '#' || bytes.HasPrefix(text[at:], []byte("//")) || bytes.HasPrefix(text[at:], []byte("/*"))
}

// lineQuoted is the length of a text in quotes, which ends with its line at the latest.
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

// manifestMention finds the words apiVersion or kind where they may be a key, however
// that is written: escapes, explicit keys and keys without a blank behind them too.
var manifestMention = lazy.Regexp(`(?:apiVersion|kind)["']?[ \t\r\n]*:|(?m:^[ \t-]*)\?[ \t]|\\(?:[uUx][0-9a-fA-F]|\n)[^"\n]*"[ \t]*:`)

// meantAsManifest reports the same of a document that parses and has no meaning.
func meantAsManifest(root *yaml.Node) bool {
	for i := 0; root.Kind == yaml.MappingNode && i < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key == "apiVersion" || key == "kind" {
			return true
		}
	}
	return false
}

// unquotedTemplate finds {{, {%, <% or the <# of FreeMarker where YAML would have to understand it: at
// the start of a line or of a value, or in brackets. In quotes, comments and block
// text it is somebody's data.
var unquotedTemplate = lazy.Regexp(`^[ \t]*(?:- +)*(?:` + unquoted + `*:[ \t]+|- +)?(?:[\[{]` + unquoted + `*)?(\{\{|\{%|<%|</?#[a-z-])`)

// unquoted is one character of a line outside of comments, or a whole text in quotes.
const unquoted = `(?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// jinjaComment finds {# above #}.
var jinjaComment = lazy.Regexp(`(?m)^` + unquoted + `*\{#(?:[^#]|#+[^#}])*#+\}`)

// blockStart is a line below which block text may follow.
var blockStart = lazy.Regexp(`(?:^|[ :-])[|>][-+0-9]*[ \t]*(?:#.*)?\r?\n?$`)

// templateOpening is what opens the first template action of a text that does not
// parse: {{, {%, <% or <#, or {# of a comment in Jinja; "" for none. The line counts from 0.
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

// blockLines iterates over the lines of a text, and whether each is block text.
func blockLines(text []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		block := -1 // indentation of the field whose block text we are in
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

// ellipsis finds a line that holds nothing but an indented "...": a text about
// a manifest leaves something out there, which YAML has no notion of.
var ellipsis = lazy.Regexp(`(?m)^[ \t]+(?:- )?\.\.\.[ \t]*\r?$`)

// notRead tells why a document that does not parse is left out; "" if it was
// meant to be a manifest, so that it is a mistake, as all but templates are where
// files are named as what they are. The line is that of the template action, counted
// from 0, or -1.
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
