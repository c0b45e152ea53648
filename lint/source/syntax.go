package source

import (
	"bytes"
	"cmp"
	"iter"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
)

var (
	errorLine = lazy.Regexp(`^yaml: line (\d+): `)
	separator = lazy.Regexp(`(?m)^---(?:[ \t\r]|$)`)
	preamble  = lazy.Regexp(`\A(?:[ \t]*(?:#.*)?\r?\n|%.*\n)*\z`)
)

// maxSearch limits, for each file, the text that is searched for the lines of syntax errors. Beyond
// it the line is the one that the parser names.
const maxSearch = 1 << 18

// parts splits a text into its documents. A separator ends a document anywhere, even in quotes and
// brackets, unless only comments and directives precede it.
func parts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for _, loc := range separator().FindAllIndex(text, -1) {
			if at := loc[0]; at > start && !preamble().Match(text[start:at]) {
				if !yield(text[start:at]) {
					return
				}
				start = at
			}
		}
		yield(text[start:])
	}
}

// broken records a document that does not parse. The parser names the start of the current
// construct, counted from 0 in some messages and from 1 in others, so the line is searched instead,
// except in templates, which were never meant to be read.
func (r *yamlReader) broken(err error, text []byte) {
	said, line := problemOf(err)
	skip, action := notRead(text, r.opts.Strict)
	if r.ytt || skip == "" && !r.opts.Strict && lacksOnlyLines(text) {
		skip = SkipOtherTemplate
	}
	e := textError{problem: Unparsable, column: 1, detail: said, skip: skip}
	if strings.Contains(said, "exceeded max depth") {
		e.problem, e.detail, e.skip = TooDeep, "more than 10,000 levels", ""
	}
	ends := lineEnds(text)
	e.line = r.moved.line(r.lines + min(max(line, 1), len(ends)))
	if e.skip != "" && action >= 0 {
		e.line = r.moved.line(r.lines+1) + action
	} else if r.search -= len(text); r.search >= 0 {
		if i := toMend(text, ends, said); i >= 0 {
			e.line = r.moved.line(r.lines+1) + i
		}
	}
	if better, ok := jsonError(text); ok && e.problem == Unparsable && e.skip == "" {
		if line := r.moved.line(r.lines+1) + better.line - 1; line > e.line {
			e.line, e.detail = line, better.detail
		}
	}
	r.docs = append(r.docs, document{line: e.line})
	r.add(limits.Cost{Documents: 1}, r.most, e.line, e)
}

// Messages of the parser for errors that must be corrected in the line above, or in one far above.
const (
	saysKey   = "mapping values are not allowed in this context"
	saysQuote = "found unexpected end of stream"
)

// keyLike matches a line that was meant to be a field: a word and perhaps another, without colon
// and blank between them; or a list item whose dash has no blank.
var keyLike = lazy.Regexp(`^[ \t]*(?:- +)*[\w./-]+(?::[^\s:#]+)?(?: [^\s:#]+)?[ \t]*(?:#.*)?\r?\n?$|^[ \t]*-[\w.]+:[ \t]`)

// toMend returns the index of the line that the user must correct, or -1. It is the first line up
// to which the text fails with the same error, unless a text that extends into that line began
// above: an unclosed quote, or a key without a colon.
func toMend(text []byte, ends []int, said string) int {
	at := firstFailing(text, ends, said)
	if at < 1 {
		return at
	}
	above := text[:ends[at-1]]
	if failed, err := decodeAll(above, passOver); failed {
		if open, _ := problemOf(err); open == saysQuote && said != saysQuote {
			return firstFailing(above, ends[:at], saysQuote)
		}
	}
	start := 0
	if at > 1 {
		start = ends[at-2]
	}
	if said == saysKey && keyLike().Match(text[start:ends[at-1]]) {
		return at - 1
	}
	return at
}

// passOver continues reading.
func passOver(*yaml.Node) bool { return true }

// firstFailing returns the index of the first line up to which a text fails with an error, or -1.
func firstFailing(text []byte, ends []int, said string) int {
	fails := func(i int) bool {
		failed, err := decodeAll(text[:ends[i]], passOver)
		if !failed {
			return false
		}
		now, _ := problemOf(err)
		return now == said
	}
	if i := sort.Search(len(ends), fails); i < len(ends) {
		return i
	}
	return -1
}

// problemOf splits a parser error into its message and its line.
func problemOf(err error) (said string, line int) {
	said = err.Error()
	if m := errorLine().FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		said = said[len(m[0]):]
	}
	return strings.TrimPrefix(said, "yaml: "), line
}

// lineEnds returns the offsets of the ends of lines; there is at least one line.
func lineEnds(text []byte) (ends []int) {
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		ends = append(ends, at)
	}
	if len(ends) == 0 {
		return []int{0}
	}
	return ends
}

// recognise returns the reason why a document contains no objects, or "" if it may contain some.
func recognise(f *File, d document) string {
	base := path.Base(f.Name)
	n := d.root
	switch {
	case d.template != "":
		return d.template
	case base == ".schedlint.yaml":
		return SkipConfig
	case n.Kind == Sequence && n.Len() > 0 && !slices.ContainsFunc(n.Items(), func(item *Node) bool { return item.Get("op") == nil || item.Get("path") == nil }):
		return SkipJSONPatch
	case n.Kind != Map:
		return SkipNoObject
	}
	apiVersion, kind := scalarValue(n.Get("apiVersion")), scalarValue(n.Get("kind"))
	switch {
	case n.Get("sops") != nil && (strings.HasPrefix(apiVersion, "ENC[") || strings.HasPrefix(kind, "ENC[")):
		return SkipEncrypted
	case kind == "Baseline" && strings.HasPrefix(apiVersion, "schedlint.dev/"):
		return SkipConfig
	case IsKustomizationFile(base) && (kind == "" || kind == "Kustomization" || kind == "Component"),
		strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/"):
		return SkipKustomization
	case kind == "" && base == "Chart.yaml":
		return SkipHelmChart
	case kind == "" && strings.HasPrefix(base, "values"):
		return SkipHelmValues
	}
	return ""
}

// passedOver returns the reason why an object, by itself or from a List, is not judged, or "".
// merging is set if the file contains directives of patches.
func passedOver(o *Object, merging bool) string {
	switch {
	case o.Kind == "" || o.Root.Kind != Map:
		return SkipNoObject
	case isBrokenList(o):
		return SkipList
	case o.Kind == "CustomResourceDefinition":
		return SkipCRD
	case o.Root.At("metadata", "name").Text() == "nameValue" && o.Root.At("metadata", "namespace").Text() == "namespaceValue":
		// The round-trip tests of apimachinery write into every field its own name followed by
		// Value.
		return SkipSample
	case merging && isPatch(o.Root):
		return SkipPatch
	}
	return ""
}

// directives lists the fields that only a strategic-merge patch has (apimachinery,
// pkg/util/strategicpatch).
var directives = []string{"$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"}

// isPatch reports whether an object contains a directive.
func isPatch(n *Node) bool {
	for k, v := range n.Fields() {
		if slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(k.Value, d) }) || isPatch(v) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items(), isPatch)
}

// inflated returns, relative to the folder of a kustomization, the directories of the charts that
// it renders and the values files that it merges with its own values. kustomize rejects repeated
// keys in those, because it decodes the result (kustomize:
// api/internal/builtins/HelmChartInflationGenerator.go, createNewMergedValuesFile); it passes other
// values files to Helm.
func inflated(n *Node) (charts, merged []string) {
	home := cmp.Or(n.At("helmGlobals", "chartHome").Text(), "charts")
	for _, chart := range n.Get("helmCharts").Items() {
		name := chart.Get("name").Text()
		dirs := []string{path.Join(home, name), path.Join(home, name+"-"+chart.Get("version").Text(), name)}
		charts = append(charts, dirs...)
		switch file := chart.Get("valuesFile").Text(); {
		case chart.Get("valuesInline").Len() == 0 || chart.Get("valuesMerge").Text() == "replace":
		case file != "":
			merged = append(merged, file)
		default:
			merged = append(merged, path.Join(dirs[0], "values.yaml"), path.Join(dirs[1], "values.yaml"))
		}
	}
	return charts, merged
}

// patchPaths returns the files that a kustomization names as patches, relative to its folder. Those
// are never manifests.
func patchPaths(n *Node) []string {
	var paths []string
	for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, item := range n.Get(field).Items() {
			p := item.Text()
			if item.Kind == Map {
				p = item.Get("path").Text()
			}
			if p != "" && !strings.Contains(p, "\n") {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// ProblemKind is a kind of error in a text, found before anything is judged. It is the id of the
// rule that reports it.
type ProblemKind string

// Kinds of problems of a text.
const (
	Unparsable   ProblemKind = "unparsable-document"
	DuplicateKey ProblemKind = "duplicate-key"
	AliasBomb    ProblemKind = "alias-bomb"
	AliasCycle   ProblemKind = "alias-cycle"
	TooDeep      ProblemKind = "nesting-too-deep"
	Unreadable   ProblemKind = "unreadable-file"
	// Kinds of problems of renders.
	RenderFailed  ProblemKind = "render-failed"
	RenderRefused ProblemKind = "render-refused"
)

// Problem is one error in a text.
type Problem struct {
	Kind   ProblemKind
	Detail string
	Span   diag.Span
	// First is the first place of a repeated key.
	First diag.Span
	// LastCounts is set for a repeated key in a file that only Helm reads and in the output of a
	// chart, where the last value counts.
	LastCounts bool
	// Merged is set for a repeated key in the output of a chart for Flux or kustomize, which reject
	// it.
	Merged bool
}

// Skipped is a document that is not a Kubernetes object to be judged, or a path that was not read,
// which has no line.
type Skipped struct {
	Reason string
	File   string
	Line   int
}

// Reasons for leaving out a document.
const (
	SkipTemplate      = "Helm template"
	SkipOtherTemplate = "template" // Jinja, ERB and similar
	SkipNoManifest    = "unparsable non-manifest"
	SkipKustomization = "kustomization file"
	SkipHelmValues    = "Helm values file"
	SkipHelmChart     = "Helm chart file"
	SkipCRD           = "CRD schema"
	SkipJSONPatch     = "JSON patch"
	SkipPatch         = "strategic-merge patch"
	SkipNoObject      = "non-Kubernetes document"
	SkipEncrypted     = "encrypted file"
	SkipExcerpt       = "excerpt with an ellipsis"
	SkipSample        = "API serialisation sample"
	SkipConfig        = "schedlint configuration file"
	SkipList          = "List with no valid items"
	SkipIgnored       = "ignored path" // by the configuration
	SkipHidden        = "hidden directory"
	SkipOthers        = "package directory" // see Options.OwnOnly
	SkipLink          = "unfollowed link"
	SkipLarge         = "large non-manifest"
	SkipBound         = "file beyond the bounds of a run"
)

// Set is the result of Load.
type Set struct {
	Files    []*File
	Objects  []*Object
	Problems []Problem
	Skipped  []Skipped
	// Documents counts YAML documents and JSON values, except empty ones.
	Documents int
	// Untracked lists the files, by name, that Options.Tracked left out.
	Untracked []string
	// Unread lists paths, without lines, that were left out although they may contain manifests:
	// those that Options.Ignore declines; hidden directories and third-party directories that
	// contain a file that begins like a manifest; links that are hidden or not tracked; and files
	// beyond the limits of a run. Directories end in a slash.
	Unread []Skipped
	// Inflated holds the directories in which there may be charts that kustomizations render.
	Inflated map[string]bool
	// Placeholders lists, by file, placeholders that YAML treats as syntax. They count as texts, so
	// that the rest of their documents can be read.
	Placeholders map[string][]string

	plain *Node
}

// Plain returns the contents of the only document of a file that is not a Kubernetes object, such
// as a configuration, or nil.
func (s *Set) Plain() (*Node, *File) {
	if s.plain == nil {
		return nil, nil
	}
	return s.plain, s.Files[0]
}
