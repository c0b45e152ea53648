package source

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// unquotedTemplate finds {{ where YAML would have to understand it: at the
// start of a line or of a value. In quotes, comments and block text it is
// somebody's data.
var unquotedTemplate = regexp.MustCompile(`(?m)^[ \t]*(?:- +)*(?:[^"'#\n]*:[ \t]+|- +)?\{\{`)

// looksTemplated reports whether a text that does not parse is a template.
func looksTemplated(text []byte) bool {
	return bytes.Contains(text, []byte("{{")) && unquotedTemplate.Match(text)
}

// ellipsis finds a line that holds nothing but an indented "...": a text about
// a manifest leaves something out there, which YAML has no notion of.
var ellipsis = regexp.MustCompile(`(?m)^[ \t]+(?:- )?\.\.\.[ \t]*\r?$`)

var kustomizationNames = map[string]bool{"kustomization.yaml": true, "kustomization.yml": true, "Kustomization": true}

// recognise tells why a document is not an object to be judged; "" if it is one.
func recognise(f *File, d document) string {
	base := path.Base(f.Name)
	n := d.root
	switch {
	case d.templated:
		return SkipTemplate
	case base == ".schedlint.yaml":
		return SkipConfig
	case n.Kind == Sequence && isJSONPatch(n):
		return SkipJSONPatch
	case n.Kind != Map:
		return SkipNoObject
	}
	apiVersion, kind := scalarValue(n.Get("apiVersion")), scalarValue(n.Get("kind"))
	switch {
	case kustomizationNames[base] && (kind == "" || kind == "Kustomization" || kind == "Component"),
		strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/"):
		return SkipKustomization
	case kind == "" && base == "Chart.yaml":
		return SkipHelmChart
	case kind == "" && strings.HasPrefix(base, "values"):
		return SkipHelmValues
	case kind == "":
		return SkipNoObject
	case kind == "CustomResourceDefinition":
		return SkipCRD
	case isSample(n):
		return SkipSample
	case n.Get("$patch") != nil || n.At("spec", "$patch") != nil:
		return SkipPatch
	}
	return ""
}

// isSample recognises what apimachinery's round-trip tests write: every field
// holds its own name followed by Value.
func isSample(n *Node) bool {
	meta := n.Get("metadata")
	return meta.Get("name").Text() == "nameValue" && meta.Get("namespace").Text() == "namespaceValue"
}

func isJSONPatch(n *Node) bool {
	for _, item := range n.Items() {
		if item.Get("op") == nil || item.Get("path") == nil {
			return false
		}
	}
	return n.Len() > 0
}

// patchPaths lists the files that a kustomization names as patches, relative
// to its own folder: those are no manifests, whatever they look like.
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
