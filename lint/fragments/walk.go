package fragments

import (
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// walk visits the values of one release.
type walk struct {
	finder *Finder
	found  *Found
	given  *workload.Given // of the current source
	file   *source.File
	// template is set for values with parameters of an ApplicationSet. If off is set, what is found
	// is left out.
	template, off bool
	path          []string
	// seen holds the visited nodes with several paths to them, twice for a node that is switched
	// off on one path.
	seen map[visit]bool
}

type visit struct {
	node *source.Node
	off  bool
}

// values searches one tree of values.
func (w *walk) values(file *source.File, root *source.Node) {
	w.file, w.path = file, nil
	w.node(root)
}

func (w *walk) node(n *source.Node) {
	if n == nil || n.Kind == source.Scalar || n.Shared && w.seen[visit{n, w.off}] {
		return
	}
	if n.Shared {
		w.seen[visit{n, w.off}] = true
	}
	switch {
	case !w.finder.nodes.Add(1):
		w.over("values have more than %d nodes", w.finder.nodes.Most)
	case len(w.path) >= w.finder.levels:
		w.over("values are nested more than %d levels deep", w.finder.levels)
	case n.Kind == source.Sequence:
		for i, item := range n.Items() {
			w.below(item, "["+strconv.Itoa(i)+"]")
		}
	default:
		was := w.off
		manifest := n.Get("apiVersion").Text() != "" && n.Get("kind").Text() != "" // whose fields are no values
		w.off = was || switchedOff(n) || manifest
		w.mapping(n)
		w.off = was
	}
}

func (w *walk) below(n *source.Node, step string) {
	w.path = append(w.path, step)
	w.node(n)
	w.path = w.path[:len(w.path)-1]
}

func (w *walk) mapping(n *source.Node) {
	placed, clear := false, true
	for k, v := range n.Fields() {
		named, filled := workload.Placement(k.Value, v)
		switch {
		case filled:
			placed = true
			clear = clear && w.clear(v)
		case !named:
			w.below(v, stepName(k.Value))
		}
	}
	switch {
	case !placed:
	case w.off || !clear:
		w.given.Left = true
	default:
		if !w.finder.maps.Add(1) {
			w.over("a run checks at most %d values fragments", w.finder.maps.Most)
			return
		}
		var path strings.Builder
		for i, step := range w.path {
			if i > 0 && step[0] != '[' {
				path.WriteByte('.')
			}
			path.WriteString(step)
		}
		w.given.Values = append(w.given.Values, workload.Values{Node: n, File: w.file, Path: path.String()})
	}
}

// clear reports whether everything below a node is written literally.
func (w *walk) clear(n *source.Node) bool {
	if !w.finder.nodes.Add(1) {
		w.over("values have more than %d nodes", w.finder.nodes.Most)
		return false
	}
	for k, v := range n.Fields() {
		if k.Placeholder() || !w.clear(v) {
			return false
		}
	}
	for _, item := range n.Items() {
		if !w.clear(item) {
			return false
		}
	}
	return n == nil || n.Kind != source.Scalar || !n.Placeholder()
}

// switches maps fields that switch the part around them on or off to the value that deploys it.
var switches = map[string]bool{"enabled": true, "enable": true, "install": true, "create": true, "deploy": true, "disabled": false, "disable": false}

// counts lists fields with the number of pods of the part around them.
var counts = map[string]bool{"replicas": true, "replicaCount": true}

// switchedOff reports whether a part of the values is not, or may not be, deployed.
func switchedOff(m *source.Node) bool {
	for k, v := range m.Fields() {
		on, is := switches[k.Value]
		switch value, known := v.Bool(); {
		case is && (known && value != on || v.Placeholder() || v.Text() == strconv.FormatBool(!on)):
			return true
		case counts[k.Value] && v.Kind == source.Scalar && v.Value == "0":
			return true
		}
	}
	return false
}

// overrides reports whether a list of parameters may change placement fields.
func overrides(parameters *source.Node) bool {
	return slices.ContainsFunc(parameters.Items(), func(p *source.Node) bool {
		name := p.Get("name")
		return mentions(name.Text()) || name.Placeholder()
	})
}

// mentions reports whether a text has the name of a placement field.
func mentions(text string) bool {
	return slices.ContainsFunc(workload.PlacementFields(), func(name string) bool { return strings.Contains(text, name) })
}

// maxStep bounds the bytes of a key that a path shows.
const maxStep = 60

// stepName returns a key as a path shows it.
func stepName(key string) string {
	if len(key) > maxStep {
		key = strings.ToValidUTF8(key[:maxStep], "") + "..."
	}
	if key == "" || strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return strconv.Quote(key)
	}
	return key
}
