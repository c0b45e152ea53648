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
)

var (
	errorLine = lazy.Regexp(`^yaml: line (\d+): `)
	separator = lazy.Regexp(`(?m)^---(?:[ \t\r]|$)`)
	preamble  = lazy.Regexp(`\A(?:[ \t]*(?:#.*)?\r?\n|%.*\n)*\z`)
)

// maxSearch is the maximum number of bytes per file that are searched for the line of a syntax
// error. After that, the line that the parser reports is used.
const maxSearch = 1 << 18

// parts splits the text into documents. A separator ends a document even inside quotes and
// brackets. A separator that follows only blank lines, comments and directives does not end a
// document.
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

// Parser messages for errors that are often caused by an earlier line than the reported one.
const (
	saysKey   = "mapping values are not allowed in this context"
	saysQuote = "found unexpected end of stream"
)

// keyLike matches a line that was probably meant to be a field but lacks a colon followed by a
// space. It also matches a list item that lacks a space after the dash.
var keyLike = lazy.Regexp(`^[ \t]*(?:- +)*[\w./-]+(?::[^\s:#]+)?(?: [^\s:#]+)?[ \t]*(?:#.*)?\r?\n?$|^[ \t]*-[\w.]+:[ \t]`)

// toMend returns the index of the line that the user must correct, or -1. Usually, this is the
// first line at which parsing fails with the same error. For an unclosed quote or a key without a
// colon, it is a line further up.
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

func passOver(*yaml.Node) bool { return true }

// firstFailing returns the index of the first line at which parsing fails with the given error, or
// -1. To test a line, it parses the text up to the end of that line.
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

// problemOf splits a parser error into a message and a line number.
func problemOf(err error) (said string, line int) {
	said = err.Error()
	if m := errorLine().FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		said = said[len(m[0]):]
	}
	return strings.TrimPrefix(said, "yaml: "), line
}

// lineEnds returns the end offset of each line. There is at least one line.
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

// recognise returns the reason why a document contains no objects to check, or "" if it may contain
// some.
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

// passedOver returns the reason for leaving out an object or a List item, or "". merging is set if
// the file contains patch directives.
func passedOver(o *Object, merging bool) string {
	switch {
	case o.Kind == "" || o.Root.Kind != Map:
		return SkipNoObject
	case isBrokenList(o):
		return SkipList
	case o.Kind == "CustomResourceDefinition":
		return SkipCRD
	case o.Root.At("metadata", "name").Text() == "nameValue" && o.Root.At("metadata", "namespace").Text() == "namespaceValue":
		// In the round-trip tests of apimachinery, the value of every field is the field's name
		// followed by "Value".
		return SkipSample
	case merging && isPatch(o.Root):
		return SkipPatch
	}
	return ""
}

// directives lists the fields that occur only in strategic-merge patches (apimachinery,
// pkg/util/strategicpatch).
var directives = []string{"$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"}

// isPatch reports whether an object contains a patch directive.
func isPatch(n *Node) bool {
	for k, v := range n.Fields() {
		if slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(k.Value, d) }) || isPatch(v) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items(), isPatch)
}

// inflated returns the directories that may contain a kustomization's charts, and the values files
// that it merges with inline values. All paths are relative to the directory of the kustomization.
// kustomize rejects repeated keys in the merged files (kustomize:
// api/internal/builtins/HelmChartInflationGenerator.go, createNewMergedValuesFile). It passes other
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

// patchPaths returns the files that a kustomization uses as patches, relative to the directory of
// the kustomization. Such files are never manifests.
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

// ProblemKind is a kind of error found while reading a file. Its value is the id of the rule that
// reports the error.
type ProblemKind string

// Kinds of errors in a file.
const (
	Unparsable   ProblemKind = "unparsable-document"
	DuplicateKey ProblemKind = "duplicate-key"
	AliasBomb    ProblemKind = "alias-bomb"
	AliasCycle   ProblemKind = "alias-cycle"
	TooDeep      ProblemKind = "nesting-too-deep"
	Unreadable   ProblemKind = "unreadable-file"
	// Kinds of render errors.
	RenderFailed  ProblemKind = "render-failed"
	RenderRefused ProblemKind = "render-refused"
)

// Problem is one error found while reading a file.
type Problem struct {
	Kind   ProblemKind
	Detail string
	Span   diag.Span
	// First is the first occurrence of a repeated key.
	First diag.Span
	// LastCounts is set for a repeated key in chart output or in a file that only Helm reads. Helm
	// uses the last value.
	LastCounts bool
	// Merged is set for a repeated key in chart output that Flux or kustomize processes further.
	// Both tools reject repeated keys.
	Merged bool
}

// Skipped is a document that was left out, or a path that was not read. Line is 0 for a path.
type Skipped struct {
	Reason string
	File   string
	Line   int
}

// Reasons for leaving out a document or a path.
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
	SkipIgnored       = "ignored path" // Options.Ignore
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
	// Untracked lists the names of files that Options.Tracked left out.
	Untracked []string
	// Unread lists paths that were left out although they may contain manifests. These are paths
	// that Options.Ignore excludes, hidden or third-party directories with a file that begins like
	// a manifest, links that are hidden or not tracked, and files beyond the limits of a run. The
	// names of directories end in a slash. Line is not set.
	Unread []Skipped
	// Inflated holds the directories in which kustomizations look for the charts that they render.
	Inflated map[string]bool
	// Placeholders lists, by file name, the placeholders that YAML would treat as syntax. These are
	// read as strings, so that the rest of the document can be parsed.
	Placeholders map[string][]string

	plain *Node
}

// Plain searches the first file for a document that is not a Kubernetes object, such as a
// configuration. It returns the first such document, or nil if there is none.
func (s *Set) Plain() (*Node, *File) {
	if s.plain == nil {
		return nil, nil
	}
	return s.plain, s.Files[0]
}
