package source

import (
	"bytes"
	"cmp"
	"iter"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
)

// Object is one Kubernetes object. The items of a List are separate objects.
type Object struct {
	File *File
	// Root is the tree of the object. It has only apiVersion, kind and metadata if Options.Keep has
	// rejected the object's kind.
	Root                              *Node
	APIVersion, Kind, Namespace, Name string
	// Hook is set for chart tests, and for objects that the deployment tool treats as hooks.
	Hook Hook
	// NamespaceAssumed is set if a chart creates the object in its release namespace and that
	// namespace is unknown.
	NamespaceAssumed bool

	// text is the document from which the object can be parsed again, or nil.
	text *foldable
	// size is the result of Size for a folded object, and 0 otherwise.
	size int
}

// Reaches reports whether an object with a placeholder for a name, a namespace or a target may mean
// another object. It means objects of the same render, or of files in its directory: everywhere else, one
// such object would leave the answers of others open.
func (o *Object) Reaches(other *Object) bool {
	return o.File == other.File || !o.File.Result && !other.File.Result && path.Dir(o.File.Name) == path.Dir(other.File.Name)
}

// Group returns the API group, or "" for the core group.
func (o *Object) Group() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// ID returns the identity of the object in diagnostics.
func (o *Object) ID() diag.Object {
	return diag.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Size returns the approximate size of the object in bytes. It counts the contents of an anchor
// once.
func (o *Object) Size() int {
	if o.size > 0 {
		return o.size
	}
	var seen map[*Node]bool
	return o.Root.size(&seen)
}

func (n *Node) size(seen *map[*Node]bool) int {
	if n == nil {
		return 0
	}
	if n.Shared {
		if (*seen)[n] {
			return 0
		}
		if *seen == nil {
			*seen = map[*Node]bool{}
		}
		(*seen)[n] = true
	}
	size := len(n.Value) + 4 // a separator, and indentation or quotes
	for _, c := range n.content() {
		size += c.size(seen)
	}
	return size
}

// NameSpan returns the position of metadata.name, or of metadata.generateName or kind if there is
// no name.
func (o *Object) NameSpan() diag.Span {
	for _, at := range []*Node{o.Root.Get("metadata"), o.Root} {
		for _, field := range []string{"name", "generateName", "kind"} {
			if k, v := at.Field(field); k != nil {
				return o.File.FieldSpan(k, v)
			}
		}
	}
	return o.File.Span(o.Root)
}

func newObject(f *File, n *Node, apiVersion, kind string) *Object {
	meta := n.Get("metadata")
	name := meta.Get("name")
	o := &Object{File: f, Root: n, APIVersion: apiVersion, Kind: kind, Namespace: scalarValue(meta.Get("namespace")), Name: scalarValue(name)}
	o.Name = cmp.Or(o.Name, scalarValue(meta.Get("generateName")))
	if isTest(meta.Get("annotations")) {
		o.Hook = HookNever
	}
	return o
}

func scalarValue(n *Node) string {
	if n.IsNull() || n.Kind != Scalar {
		return ""
	}
	return n.Value
}

// flatten emits all items of a List and of the Lists in it. It emits any other object itself. An
// item of a typed list may have neither kind nor apiVersion. It then gets both from the list
// (apimachinery unstructured, decodeToList; R-K5). flatten stops and returns false when emit
// returns false.
func flatten(f *File, n *Node, apiVersion, kind string, emit func(*Object) bool) bool {
	items := n.Get("items")
	if !strings.HasSuffix(kind, "List") || items == nil || items.Kind != Sequence {
		return emit(newObject(f, n, apiVersion, kind))
	}
	for _, item := range items.Items() {
		v, k := scalarValue(item.Get("apiVersion")), scalarValue(item.Get("kind"))
		if v == "" && k == "" && kind != "List" {
			v, k = apiVersion, strings.TrimSuffix(kind, "List")
		}
		if !flatten(f, item, v, k, emit) {
			return false
		}
	}
	return true
}

// Hook says when a deployment creates an object that is a hook. It is "" for ordinary objects.
type Hook string

const (
	// HookStep marks an object that is created at a particular step, such as before an upgrade.
	HookStep Hook = "step"
	// HookNever marks an object that no deployment creates, such as a test or a hook that the tool
	// skips. It exists only while someone runs it by hand.
	HookNever Hook = "never"
)

// Annotations that make an object a hook.
const (
	helmHook = "helm.sh/hook"
	argoHook = "argocd.argoproj.io/hook"
)

// helmSteps lists the steps that a Helm hook can name (helm: pkg/releaseutil/manifest_sorter.go).
// The value is false for tests, because they run only on request and no deployment creates their
// objects. Helm skips a hook that names any other step.
var helmSteps = map[string]bool{
	"pre-install": true, "post-install": true, "pre-upgrade": true, "post-upgrade": true,
	"pre-rollback": true, "post-rollback": true, "pre-delete": true, "post-delete": true,
	"test": false, "test-success": false,
}

// isTest reports whether the annotations make an object a Helm test and no other hook. Argo CD's
// own hook annotation takes precedence, as in ArgoHook. Helm 2 had test-success and test-failure
// (helm: pkg/hooks/hooks.go, v2.17).
func isTest(annotations *Node) bool {
	events := annotations.Get(helmHook)
	if events == nil || annotations.Get(argoHook) != nil {
		return false
	}
	for event := range strings.SplitSeq(events.Text(), ",") {
		switch strings.ToLower(strings.TrimSpace(event)) {
		case "test", "test-success", "test-failure":
		default:
			return false
		}
	}
	return true
}

// HelmHook says when Helm creates an object that it treats as a hook. It returns "" for any other
// object.
func HelmHook(o *Object) Hook {
	times := o.Root.At("metadata", "annotations", helmHook)
	if times == nil {
		return ""
	}
	hook := HookNever
	for time := range strings.SplitSeq(times.Text(), ",") {
		step, known := helmSteps[strings.ToLower(strings.TrimSpace(time))]
		switch {
		case !known:
			return HookNever
		case step:
			hook = HookStep
		}
	}
	return hook
}

// ArgoHook says when Argo CD creates an object that it treats as a hook. It returns "" for any
// other object. Helm's annotations count only if the object does not have Argo CD's annotation.
func ArgoHook(o *Object) Hook {
	steps := o.Root.At("metadata", "annotations", argoHook)
	if steps == nil {
		return HelmHook(o)
	}
	for step := range strings.SplitSeq(steps.Text(), ",") {
		if strings.TrimSpace(step) == "Skip" {
			return HookNever
		}
	}
	return HookStep
}

// manifestKey matches the key apiVersion or kind at the start of a string.
var manifestKey = lazy.Regexp(`^(?:(?:apiVersion|kind)[ \t]*:(?:\s|$)|(?:"(?:apiVersion|kind)"|'(?:apiVersion|kind)')[ \t]*:)`)

// otherKind matches a Google API kind, such as discovery#restDescription.
var otherKind = lazy.Regexp(`^["']?kind["']?[ \t]*:[ \t]*["']?\w+#`)

func startsWithKey(text []byte) bool { return manifestKey().Match(text) && !otherKind().Match(text) }

// meansManifest reports whether a text that does not parse was meant to contain a Kubernetes
// object. One of its documents must have apiVersion or kind as a top-level key. Dumps, logs and
// files such as a tasks.json with comments have neither.
func meansManifest(text []byte) bool {
	for part := range parts(text) {
		if meansObject(part) {
			return true
		}
	}
	return false
}

// unindented matches anything that may precede the first key of a document: a blank line, a YAML or
// JavaScript comment, a directive or a separator.
var unindented = lazy.Regexp(`^(?:[ \t]*(?:(?:#|//|/\*).*)?(?:\r\n?|\n|$)|%.*\n|---(?:[ \t]+(?:#.*)?)?(?:\r\n?|\n|$)|---[ \t]+)`)

// meansObject is like meansManifest, but checks a single document. A top-level key is indented no
// more than the first key, or is directly inside the outermost braces.
func meansObject(text []byte) bool {
	for m := unindented().Find(text); len(m) > 0; m = unindented().Find(text) {
		text = text[len(m):]
	}
	first := bytes.TrimLeft(text, " \t")
	if bytes.HasPrefix(first, []byte("{")) {
		// A quote may be missing in the document, so every quoted string is assumed to end on its line.
		depth, begins := 0, false // begins: a key or a value may begin here
		for i := 0; i < len(first); i++ {
			switch c := first[i]; {
			case begins && depth <= 1 && startsWithKey(first[i:]):
				return true
			case c == '"' || c == '\'' && begins:
				i += lineQuoted(first[i:]) - 1
				begins = false
			case comments(first, i):
				i += wordLen(first[i:], "\r\n") - 1
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

// comments reports whether a YAML or JavaScript comment begins at an offset.
func comments(text []byte, at int) bool {
	if at > 0 && bytes.IndexByte([]byte(" \t\r\n"), text[at-1]) < 0 {
		return false
	}
	return text[at] == '#' || bytes.HasPrefix(text[at:], []byte("//")) || bytes.HasPrefix(text[at:], []byte("/*"))
}

// lineQuoted returns the length of a quoted string. The string ends at the end of its line at the
// latest.
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

// manifestMention matches anything that may be the key apiVersion or kind. It also matches keys
// with escapes, explicit keys, and keys with no space after the colon.
var manifestMention = lazy.Regexp(`(?:apiVersion|kind)["']?[ \t\r\n]*:|(?m:^[ \t-]*)\?[ \t]|\\(?:[uUx][0-9a-fA-F]|\n)[^"\n]*"[ \t]*:`)

// meantAsManifest is the counterpart of meansManifest for a document that parses but is invalid for
// another reason.
func meantAsManifest(root *yaml.Node) bool {
	for i := 0; root.Kind == yaml.MappingNode && i < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key == "apiVersion" || key == "kind" {
			return true
		}
	}
	return false
}

// unquotedTemplate matches {{, {%, <% or FreeMarker's <# where YAML has to interpret it: at the
// start of a line or a value, or in brackets. Inside quotes, comments and block scalars, these
// characters are plain data.
var unquotedTemplate = lazy.Regexp(`^[ \t]*(?:- +)*(?:` + unquoted + `*:[ \t]+|- +)?(?:[\[{]` + unquoted + `*)?(\{\{|\{%|<%|</?#[a-z-])`)

// unquoted matches one character outside of comments, or a whole quoted string.
const unquoted = `(?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`

// jinjaComment matches a Jinja comment, {# ... #}.
var jinjaComment = lazy.Regexp(`(?m)^` + unquoted + `*\{#(?:[^#]|#+[^#}])*#+\}`)

// blockStart matches a line that may begin a block scalar.
var blockStart = lazy.Regexp(`(?:^|[ :-])[|>][-+0-9]*[ \t]*(?:#.*)?\r?\n?$`)

// templateOpening returns the characters that open the first template action in a text that does
// not parse: {{, {%, <%, <#, or {# for a Jinja comment. It returns "" if there is no such action.
// at is the action's line, counted from 0.
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

// blockLines iterates over the lines of the text. The second value of each pair says whether the
// line is inside a block scalar.
func blockLines(text []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		block := -1 // indentation of the field with the current block scalar, or -1
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

// ellipsis matches an indented line that contains only "...". In documentation, such a line marks
// an omission, but it is not valid YAML.
var ellipsis = lazy.Regexp(`(?m)^[ \t]+(?:- )?\.\.\.[ \t]*\r?$`)

// notRead returns the reason for leaving out a document that does not parse. It returns "" for a
// document that was meant to be a manifest, because the user must correct it. If strict is true,
// only templates and excerpts are left out. line is the line of the first template action, counted
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
