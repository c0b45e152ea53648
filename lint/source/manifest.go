package source

import (
	"bytes"
	"iter"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
)

// manifestKey finds a line with the key apiVersion or kind: at its start, behind
// the dash of a list item, or in braces, as JSON and flow style have it.
var manifestKey = lazy.Regexp(`(?m)(?:(?:^|\r)[ \t]*(?:- +)*|\{(?:[^\n]*,)?[ \t]*)(?:(?:apiVersion|kind)[ \t]*:(?:[ \t\r]|$)|(?:"(?:apiVersion|kind)"|'(?:apiVersion|kind)')[ \t]*:)`)

// meansManifest reports whether a text that does not parse was meant to be a
// Kubernetes object. A dump, a log or a tsconfig.json with comments was not.
func meansManifest(text []byte) bool { return manifestKey().Match(text) }

// manifestMention finds the words apiVersion or kind where they may be a key, however
// that is written: escapes, explicit keys and keys without a blank behind them too.
var manifestMention = lazy.Regexp(`(?:apiVersion|kind)["']?[ \t\r\n]*:|(?m:^[ \t-]*)\?[ \t]|\\(?:[uUx][0-9a-fA-F]|\n)[^"\n]*"[ \t]*:`)

// mentionsManifest reports whether a text that is not read may hold a manifest.
func mentionsManifest(text []byte) bool { return manifestMention().Match(text) }

// meant reports the same of a document that parses and has no meaning.
func meant(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(root.Content); i += 2 {
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
