package source

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// recognise tells why a document holds no objects; "" if it may.
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

// passedOver tells why an object, alone or out of a List, is not to be judged;
// "" if it is. Merging is set where the file holds directives of patches.
func passedOver(o *Object, merging bool) string {
	switch {
	case o.Kind == "" || o.Root.Kind != Map:
		return SkipNoObject
	case isBrokenList(o):
		return SkipList
	case o.Kind == "CustomResourceDefinition":
		return SkipCRD
	case o.Root.At("metadata", "name").Text() == "nameValue" && o.Root.At("metadata", "namespace").Text() == "namespaceValue":
		// apimachinery's round-trip tests write into every field its own name followed by Value
		return SkipSample
	case merging && isPatch(o.Root):
		return SkipPatch
	}
	return ""
}

// directives are the fields that only a strategic-merge patch has
// (apimachinery, pkg/util/strategicpatch).
var directives = []string{"$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"}

// isPatch reports whether there is a directive somewhere in an object.
func isPatch(n *Node) bool {
	for k, v := range n.Fields() {
		if slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(k.Value, d) }) || isPatch(v) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items(), isPatch)
}

// inflated lists, relative to the folder of a kustomization, where the charts are that it
// inflates, and the values files that it merges with values of its own. kustomize refuses
// repeated keys in those, as it decodes the result (kustomize:
// api/internal/builtins/HelmChartInflationGenerator.go, createNewMergedValuesFile); others
// it hands to Helm.
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
