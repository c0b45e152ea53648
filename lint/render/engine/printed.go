package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// printedChart is the output of a chart that a kustomization renders. Kustomize sees it as a
// resource in a virtual file.
type printedChart struct {
	name      string // name in the tree
	namespace string
	out       *render.Output
	doc       *parsed
	// plain is set if kustomize must not recognize the text as Helm output. Kustomize then sets its
	// namespace on the objects.
	plain bool
}

// print renders a chart and adds its output as a resource.
func (p *plan) print(r *release, root render.Root) (sum, *render.Problem) {
	out := buildChart(root, p.tree)
	maps.Copy(p.used, out.Used)
	if out.Problem != nil {
		return sum{}, out.Problem
	}
	doc, err := parse(out.Text)
	if err == nil {
		err = doc.err
	}
	if err != nil {
		return sum{}, r.problem("name", fmt.Errorf("what the chart prints cannot be read: %w", err))
	}
	if problem := r.repeatedKey(out, doc); problem != nil {
		return sum{}, problem
	}
	if r.k.printedDir == "" {
		dir := path.Join(r.k.dir, printedDir)
		for p.tree.read(dir).err == nil {
			dir += "_"
		}
		r.k.printedDir = dir
		p.tree.files[dir] = &file{name: dir, dir: true}
	}
	name := path.Join(r.k.printedDir, fmt.Sprintf("%d.chart.yaml", len(p.printed)))
	c := &printedChart{name: name, namespace: root.Chart.Namespace, out: out, doc: doc}
	p.printed[c.name], p.parsed[c.name] = c, doc
	p.tree.files[c.name] = &file{name: c.name, text: out.Text}
	at := r.problem("name", errors.New("is here"))
	out.Named = &render.Place{File: at.File, Line: at.Line, Column: at.Column}
	if r.spec.Repo != "" {
		out.Downloaded = root.Dir
	}
	r.k.printed = append(r.k.printed, c)
	r.printed = c
	cost := &r.cost.cost // also covers reading the chart, once per render
	*cost = limits.Cost{Objects: doc.objects, Nodes: doc.nodes, Bytes: len(out.Text), Entries: limits.Sum(1, out.Cost.Entries), Steps: out.Cost.Steps}
	for _, name := range slices.Concat(out.Sources, out.Data) {
		if f := p.tree.files[name]; f != nil {
			cost.Bytes = limits.Sum(cost.Bytes, len(f.text))
		}
	}
	for _, name := range out.Sources {
		p.uses[name] |= asChart
	}
	return r.cost, nil
}

// repeatedKey returns a problem for the first mapping in which a chart prints a key twice. The
// problem contains the template lines of both occurrences. Kustomize rejects such output
// (kyaml/yaml: RNode.MarshalJSON).
func (r *release) repeatedKey(out *render.Output, doc *parsed) *render.Problem {
	var within func(n *yaml.Node, depth int) *render.Problem
	within = func(n *yaml.Node, depth int) *render.Problem {
		if n == nil || depth > maxNesting {
			return nil
		}
		first := map[string]*yaml.Node{}
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
				if was := first[child.Value]; was != nil {
					at, before := r.templateAt(out, child.Line), r.templateAt(out, was.Line)
					return &render.Problem{Kind: render.Repeated, File: at.File, Line: at.Line, Column: 1, Detail: shown(child.Value), First: &before}
				}
				first[child.Value] = child
			}
			if p := within(child, depth+1); p != nil {
				return p
			}
		}
		return nil
	}
	for _, root := range doc.docs {
		if p := within(root, 0); p != nil {
			return p
		}
	}
	return nil
}

// templateAt returns the template line that printed a line of the output. If the line is unknown,
// templateAt returns the position of the chart's entry.
func (r *release) templateAt(out *render.Output, line int) render.Place {
	if line < 1 || line > len(out.Lines) || out.Lines[line-1].Template < 0 {
		named := r.problem("name", errors.New("is here"))
		return render.Place{File: named.File, Line: named.Line}
	}
	at := out.Lines[line-1]
	return render.Place{File: out.Files[at.Template], Line: at.At}
}

// printedDir is the virtual directory for the chart output of a kustomization. No real directory
// may have this name.
const printedDir = ".helm-charts"

// component adds a component that contains the charts of a kustomization. It comes after the
// generators and before all other components.
func (p *plan) component(k *kustomization, spec *types.Kustomization) {
	var c types.Kustomization
	c.TypeMeta = types.TypeMeta{APIVersion: types.ComponentVersion, Kind: types.ComponentKind}
	for _, r := range k.charts {
		c.Resources = append(c.Resources, path.Base(r.printed.name))
		if r.from != nil {
			spec.Generators = slices.DeleteFunc(spec.Generators, func(g string) bool { return g == r.from.value })
		}
	}
	text, _ := json.Marshal(&c) // cannot fail, since c consists of strings
	name := path.Join(k.printedDir, konfig.DefaultKustomizationFileName())
	p.tree.files[name] = &file{name: name, text: text}
	for _, other := range konfig.RecognizedKustomizationFileNames() {
		if other := path.Join(k.printedDir, other); other != name {
			p.tree.files[other] = &file{err: errMissing}
		}
	}
	// Nothing may make kustomize run Helm.
	spec.HelmCharts, spec.HelmChartInflationGenerator = nil, nil
	spec.Components = slices.Insert(spec.Components, 0, path.Base(k.printedDir))
}

// resource returns the chart output that kustomize reads. It is in block style, so that a marker
// can follow each scalar. It has the annotation for Helm output unless plain is set.
func (c *printedChart) resource(m *marker) ([]byte, error) {
	doc, err := parse(c.out.Text)
	if err != nil {
		return nil, err
	}
	file := -1
	if m != nil {
		file = m.file(c.name)
	}
	var out bytes.Buffer
	for i, root := range doc.docs {
		if root == nil {
			continue
		}
		b := &blockStyle{m: m, file: file, doc: i}
		if b.lines, _ = newLines(c.out.Text); b.lines == nil {
			b.m = nil
		}
		b.restyle(root, 0, false)
		for _, o := range objectsOf(root) {
			if !c.plain {
				annotate(target(o))
			}
		}
		text, err := encode(root)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

func encode(root *yaml.Node) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML encoder failed: %v", r)
		}
	}()
	return yaml.Marshal(root)
}

// blockStyle rewrites a document so that each scalar is at the end of a line.
type blockStyle struct {
	m         *marker
	lines     *lines
	file, doc int
}

func (b *blockStyle) restyle(n *yaml.Node, depth int, value bool) {
	if n == nil || depth > maxNesting {
		return
	}
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch n.Kind {
	case yaml.MappingNode:
		n.Style &^= yaml.FlowStyle
		for i := 0; i+1 < len(n.Content); i += 2 {
			b.restyle(n.Content[i], depth+1, false)
			b.restyle(n.Content[i+1], depth+1, true)
		}
	case yaml.SequenceNode:
		n.Style &^= yaml.FlowStyle
		for _, item := range n.Content {
			b.restyle(item, depth+1, true)
		}
	case yaml.ScalarNode:
		b.scalar(n, value)
	}
}

// scalar writes a scalar on one line. If the scalar is a value, it gets a marker.
func (b *blockStyle) scalar(n *yaml.Node, value bool) {
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if block || bytes.ContainsAny([]byte(n.Value), "\n\r\u0085\u2028\u2029") {
		n.Style = n.Style&^(yaml.LiteralStyle|yaml.FoldedStyle|yaml.SingleQuotedStyle) | yaml.DoubleQuotedStyle
	}
	if b.m == nil || !value || block {
		return
	}
	is, ok := scalarOf(n)
	if !ok {
		return
	}
	column := n.Column
	if start, _, ok := b.lines.scalar(n); ok {
		column = b.lines.column(n, start)
	}
	n.LineComment = b.m.add(place{b.file, b.doc, n.Line, column, is})
}

// annotate sets the annotation on an object. Kustomize rejects anything that is not an object.
func annotate(o *yaml.Node) {
	about := field(o, "metadata")
	if !isMapping(about) {
		return
	}
	notes := field(about, "annotations")
	switch {
	case notes == nil:
		notes = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		about.Content = append(about.Content, stringNode("annotations"), notes)
	case notes.ShortTag() == "!!null":
		*notes = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	case notes.Kind != yaml.MappingNode:
		return
	}
	quoted := stringNode("true")
	quoted.Style = yaml.DoubleQuotedStyle
	notes.Content = append(notes.Content, stringNode(konfig.HelmGeneratedAnnotation), quoted)
}

func stringNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}
