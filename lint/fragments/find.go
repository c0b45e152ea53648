package fragments

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Finder finds placement fields in chart values. Its limits apply to one run.
type Finder struct {
	// maps counts the maps that were found. nodes counts the nodes that were visited. bytes counts
	// the bytes of values that are written as text.
	maps, nodes, bytes limits.Counter
	levels             int

	known map[*source.Object]*Found
}

// Found holds the placement fields that an object passes to charts.
type Found struct {
	// Sources holds the values of each source of the object, in the order of the sources.
	Sources []workload.Given
	// Over says which limit was exceeded, or is empty.
	Over string
}

// Without merges the values of all sources except those with the given indices.
func (f *Found) Without(sources map[int]bool) *workload.Given {
	all := &workload.Given{}
	for i, s := range f.Sources {
		if !sources[i] {
			all.Values, all.Left = append(all.Values, s.Values...), all.Left || s.Left
		}
	}
	return all
}

// NewFinder returns a finder for one run.
func NewFinder() *Finder {
	return &Finder{
		maps: limits.Counter{Most: limits.Fragments}, nodes: limits.Counter{Most: limits.FragmentNodes}, bytes: limits.Counter{Most: limits.FragmentText},
		levels: limits.FragmentLevels, known: map[*source.Object]*Found{},
	}
}

// Of returns the placement fields that an object passes to charts, or nil if the object does not
// release a chart.
func (f *Finder) Of(o *source.Object) *Found {
	kind, ok := pointers.KindOf(o.Group(), o.Kind)
	if !ok || kind == pointers.FluxKustomization {
		return nil
	}
	found := f.known[o]
	if found == nil {
		w := walk{finder: f, found: &Found{}, seen: map[visit]bool{}}
		w.release(o, kind)
		found = w.found
		f.known[o] = found
	}
	return found
}

// Destinations returns the name and the address of the cluster that an object deploys to. The
// result is empty if the object sets neither of them, and nil if the object is not a release.
func Destinations(o *source.Object) []string {
	kind, ok := pointers.KindOf(o.Group(), o.Kind)
	if !ok || kind == pointers.FluxKustomization {
		return nil
	}
	spec := specOf(o)
	all := []string{}
	for _, name := range []string{"name", "server"} {
		if text := spec.At("destination", name); kind != pointers.FluxHelmRelease && text.Text() != "" {
			all = append(all, text.Value)
		}
	}
	return all
}

// release searches the values of a release.
func (w *walk) release(o *source.Object, kind pointers.Kind) {
	spec := o.Root.Get("spec")
	if kind == pointers.FluxHelmRelease {
		w.next()
		if suspended, known := spec.Get("suspend").Bool(); !known || !suspended {
			w.values(o.File, spec.Get("values"))
		}
		return
	}
	w.template = kind == pointers.ApplicationSet
	for _, s := range sources(o) {
		w.next()
		w.argo(o.File, s.Get("helm"))
	}
}

// next adds an item for the next source and makes it the current one.
func (w *walk) next() {
	w.found.Sources = append(w.found.Sources, workload.Given{})
	w.given = &w.found.Sources[len(w.found.Sources)-1]
}

func specOf(o *source.Object) *source.Node {
	if o.Kind == "ApplicationSet" {
		return o.Root.At("spec", "template", "spec")
	}
	return o.Root.Get("spec")
}

// sources returns the sources of an Application, or of the template of an ApplicationSet. Argo CD
// ignores the source field if the sources field is set.
func sources(o *source.Object) []*source.Node {
	spec := specOf(o)
	if several := spec.Get("sources").Items(); len(several) > 0 {
		return several
	}
	return []*source.Node{spec.Get("source")}
}

// argo searches the values of an Argo CD source. In Argo CD, the valuesObject field replaces the
// values field. Parameters override both fields.
func (w *walk) argo(file *source.File, helm *source.Node) {
	w.off = overrides(helm.Get("parameters")) || overrides(helm.Get("fileParameters"))
	if object := helm.Get("valuesObject"); object.Len() > 0 {
		w.values(file, object)
		return
	}
	text := helm.Get("values")
	if text.Text() == "" || !mentions(text.Value) {
		return
	}
	if w.template && source.IsVariable(text.Value) { // the variable may be a condition around any part of the values
		w.given.Left = true
		return
	}
	inner, cost := written(file, text, w.finder.bytes.Left())
	w.finder.bytes.Add(cost)
	switch {
	case inner == nil && cost > 0:
		w.over("values as text take more than %d MiB to read", w.finder.bytes.Most>>20)
	case inner == nil:
		w.given.Left = true
	default:
		docs := inner.Roots()
		if len(docs) != 1 {
			w.given.Left = true
			return
		}
		w.values(inner, docs[0])
	}
}

// over records that a limit was exceeded.
func (w *walk) over(format string, args ...any) {
	w.given.Left = true
	if w.found.Over == "" {
		w.found.Over = fmt.Sprintf(format, args...)
	}
}

// written returns a file that contains only the text of a block scalar, with each line at the same
// position as in the original file. It returns nil if the scalar is not a literal block, because
// other scalars may change line breaks. It also returns nil if the new file would be larger than
// most. cost is the size of the new file.
func written(file *source.File, block *source.Node, most int) (inner *source.File, cost int) {
	head := file.Span(block).Line
	if !literal(file, block, head) {
		return nil, 0
	}
	lines := strings.Split(block.Value, "\n")
	first := file.Line(head + 1)
	if cost = head + len(block.Value) + len(lines)*(len(first)-len(strings.TrimLeft(first, " "))); cost > most {
		return nil, cost
	}
	text := bytes.NewBuffer(bytes.Repeat([]byte("\n"), head))
	indent := -1
	for i, line := range lines {
		blank, same := strings.CutSuffix(file.Line(head+1+i), line)
		switch {
		case strings.Trim(line, " ") == "":
			blank = ""
		case !same || strings.Trim(blank, " ") != "" || len(blank) > maxIndent || indent >= 0 && indent != len(blank):
			return nil, 0
		default:
			indent = len(blank)
		}
		text.WriteString(blank + line + "\n")
	}
	inner = source.NewFile(file.Name, file.Display, text.Bytes())
	inner.Result = file.Result
	return inner, cost
}

// maxIndent is the maximum indentation of values that are written as text.
const maxIndent = 200

// literal reports whether a scalar is a literal block scalar, which keeps its line breaks.
func literal(file *source.File, block *source.Node, line int) bool {
	text := file.Line(line)
	at := strings.LastIndexByte(text, '|')
	return block.Quoted && at >= 0 && strings.Contains(block.Value, "\n") && strings.Trim(text[at:], "|+-0123456789 ") == "" && strings.HasSuffix(strings.TrimRight(text[:at], " "), ":")
}

// Moved maps a position in the values of one object to the same position in another object. ok is
// false unless the values are written as text and are equal in both objects.
func Moved(from, to *source.Object, s diag.Span) (at diag.Span, ok bool) {
	here, there := sources(from), sources(to)
	for i := range min(len(here), len(there)) {
		a, b := here[i].At("helm", "values"), there[i].At("helm", "values")
		if a.Text() == "" || a.Text() != b.Text() {
			continue
		}
		head, onto := from.File.Span(a).Line, to.File.Span(b).Line
		if !literal(from.File, a, head) || !literal(to.File, b, onto) || s.Line <= head || s.EndLine > head+strings.Count(a.Value, "\n") {
			continue
		}
		at = s
		at.File, at.Line, at.EndLine = to.File.Name, s.Line+onto-head, s.EndLine+onto-head
		at.Column += shift(from.File.Line(s.Line), to.File.Line(at.Line))
		at.EndColumn += shift(from.File.Line(s.EndLine), to.File.Line(at.EndLine))
		return at, true
	}
	return at, false
}

// shift returns the difference between the indentations of two lines.
func shift(from, to string) int {
	return len(to) - len(strings.TrimLeft(to, " ")) - len(from) + len(strings.TrimLeft(from, " "))
}

// walk searches the values of one release.
type walk struct {
	finder *Finder
	found  *Found
	given  *workload.Given // the values of the current source
	file   *source.File
	// template is set if the values belong to an ApplicationSet and may contain parameters. off is
	// set in parts of the values whose maps are left out.
	template, off bool
	path          []string
	// seen holds visited nodes that several paths reach. A node may be visited twice: once with off
	// set, and once with off not set.
	seen map[visit]bool
}

type visit struct {
	node *source.Node
	off  bool
}

// values searches a tree of values.
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
		manifest := n.Get("apiVersion").Text() != "" && n.Get("kind").Text() != "" // the fields of a manifest are not values
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

// clear reports whether a node and the nodes below it contain no placeholders.
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

// switches maps each field that can turn the surrounding map on or off to the value that turns it
// on.
var switches = map[string]bool{"enabled": true, "enable": true, "install": true, "create": true, "deploy": true, "disabled": false, "disable": false}

// counts lists the fields that set the number of pods in the surrounding map.
var counts = map[string]bool{"replicas": true, "replicaCount": true}

// switchedOff reports whether a part of the values is turned off or might be turned off.
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

// overrides reports whether any parameter may change placement fields.
func overrides(parameters *source.Node) bool {
	return slices.ContainsFunc(parameters.Items(), func(p *source.Node) bool {
		name := p.Get("name")
		return mentions(name.Text()) || name.Placeholder()
	})
}

// mentions reports whether text contains the name of a placement field.
func mentions(text string) bool {
	return slices.ContainsFunc(workload.PlacementFields(), func(name string) bool { return strings.Contains(text, name) })
}

// maxStep is the maximum length of a key in a path, in bytes.
const maxStep = 60

// stepName returns a key in the form in which paths show it.
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
