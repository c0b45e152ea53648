package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// Build renders one root. nonce is a string of letters and digits that the authors of the sources
// cannot know. It becomes part of the comments that Build adds to the YAML. Output.Problem is set
// if rendering failed. No input causes a panic. Only one build may run at a time in a process.
func Build(r render.Root, nonce string) *render.Output {
	r.Left = limits.Render.Least(r.Left)
	root, err := os.OpenRoot(r.Confinement)
	if err != nil {
		return &render.Output{Problem: newPlan(r, nil).atRoot(fmt.Errorf("the repository %w", reason(err)))}
	}
	defer root.Close()
	t := &tree{dir: r.Confinement, root: root, left: r.Left.Bytes, texts: r.Texts, files: map[string]*file{}, real: map[string]*file{}, within: r.Within}
	if r.Overlay != nil {
		t.pointer = r.Overlay.File
	}
	if r.Artifact == nil {
		return t.build(r, nonce)
	}
	out := t.build(t.hold(r), nonce)
	t.originals(out)
	if p, o := out.Problem, r.Overlay; p != nil && o != nil {
		if _, lacks := t.inArtifact(p.File); lacks {
			p.File, p.Line, p.Column = o.File, o.Line, 1
		}
	}
	return out
}

// build renders a root whose files are in a tree.
func (t *tree) build(r render.Root, nonce string) *render.Output {
	if r.Chart != nil && !r.Overlay.Changes() {
		return buildChart(r, t)
	}
	p := newPlan(r, t)
	total, problem := p.make()
	if problem != nil {
		return &render.Output{Problem: p.pointed(problem), Used: p.used, Cost: limits.Cost{Bytes: p.most.Bytes - p.tree.left, Entries: len(p.uses)}}
	}
	m := newMarker(nonce)
	out := p.build(m)
	if out.Problem == nil && bytes.Contains(out.Text, []byte(m.sign)) {
		out = p.build(nil) // a marker ended up in a value
	}
	out.Cost = total.cost
	out.Cost.Nodes = 0 // a run has no limit on nodes
	out.Cost.Bytes = limits.Sum(out.Cost.Bytes, len(out.Text))
	if out.Problem == nil {
		total = sum{cost: out.Cost}
		total.cost.Objects = max(total.cost.Objects, len(out.Documents))
		if over := total.beyond(p.most); over != "" {
			*out = render.Output{Cost: out.Cost, Problem: p.atRoot(refusal(over))}
		}
	}
	out.Problem, out.Used = p.pointed(out.Problem), p.used
	return out
}

// build runs kustomize on the plan. It adds markers if m is not nil.
func (p *plan) build(m *marker) *render.Output {
	served, problem := p.serve(m)
	if problem != nil {
		return &render.Output{Problem: problem}
	}
	fs := &fileSystem{tree: p.tree, served: served}
	result, err := p.run(fs)
	if err == nil && fs.refused == nil {
		err = p.finish(result)
	}
	if err == nil && fs.refused == nil {
		var out *render.Output
		if out, err = p.output(result, m); err != nil {
			return &render.Output{Problem: p.atRoot(err)}
		}
		for name, f := range p.tree.real { // sources declare or change objects; other files are data
			switch used := p.uses[name]; {
			case f.dir:
			case used&(asResource|asComponent|asPatch|asJSONPatch|asPlugin|asSchema|asKustomization|asChart) != 0:
				out.Sources = append(out.Sources, name)
			default:
				out.Data = append(out.Data, name)
			}
		}
		slices.Sort(out.Sources)
		slices.Sort(out.Data)
		return out
	}
	if fs.refused == nil {
		return &render.Output{Problem: p.translate(err, m)}
	}
	err = fmt.Errorf("%s %w", shown(fs.name), fs.refused)
	for _, k := range p.sorted() {
		for _, e := range k.entries {
			if f := p.tree.files[fs.name]; f != nil && p.tree.files[path.Join(k.dir, e.name)] == f {
				return &render.Output{Problem: e.problem(err)}
			}
		}
	}
	return &render.Output{Problem: p.atRoot(err)}
}

// run runs kustomize and turns a panic into an error. Some inputs, such as an invalid schema, make
// kustomize panic.
func (p *plan) run(fs *fileSystem) (result resmap.ResMap, err error) {
	crashed := true
	defer func() {
		if r := recover(); crashed {
			err = fmt.Errorf("kustomize crashed: %v", r)
		}
		if crashed || p.schema {
			openapi.ResetOpenAPI()
		}
	}()
	opts := krusty.MakeDefaultOptions()
	opts.PluginConfig = types.DisabledPluginConfig()
	if !p.root.RootOnly {
		opts.LoadRestrictions = types.LoadRestrictionsNone
	}
	result, err = krusty.MakeKustomizer(opts).Run(fs, filepath.Join(p.tree.dir, filepath.FromSlash(p.root.Dir)))
	crashed = false
	if err != nil {
		return nil, err
	}
	// The setting buildMetadata: [managedByLabel] adds the version of kustomize to objects as a
	// label. For the kustomize library, the version is "(devel)", which is not a valid label value.
	for _, r := range result.Resources() {
		if labels := r.GetLabels(); strings.HasSuffix(labels[konfig.ManagedbyLabelKey], "(devel)") {
			labels[konfig.ManagedbyLabelKey] = "kustomize-v5"
			_ = r.SetLabels(labels) // cannot fail, since the labels come from r itself
		}
	}
	return result, nil
}

// translate turns a kustomize error into a problem at the entry that caused it.
func (p *plan) translate(err error, m *marker) *render.Problem {
	if len(p.hints) > 0 {
		return p.hints[0]
	}
	said := err.Error()
	if m != nil {
		said = m.without(said)
	}
	// If kustomize cannot use a path as a file, it uses the path as a directory. The error about
	// the directory comes last in the message.
	if _, inner, ok := strings.Cut(said, "accumulation err='"); ok {
		if before, _, ok := strings.Cut(inner, "': must build at directory"); ok {
			said = before
		}
	}
	if len(said) > maxSaid {
		said = said[:maxSaid/2] + " ... " + said[len(said)-maxSaid/2:]
	}
	for _, k := range p.sorted() {
		for _, r := range k.charts { // the error names a chart file that does not exist
			name := "'" + path.Base(r.printed.name) + "'"
			for _, words := range []string{"accumulating resources from ", "merging resources from "} {
				if _, after, ok := strings.Cut(said, words+name+": "); ok {
					return r.problem("name", errors.New("kustomize: "+after))
				}
			}
		}
	}
	k, e := p.mentioned(said)
	said = address().ReplaceAllString(triedAsFile().ReplaceAllString(said, ""), "")
	said = strings.ReplaceAll(said, p.tree.dir+string(filepath.Separator), "")
	said = "kustomize: " + strings.ReplaceAll(said, p.tree.dir, ".")
	switch {
	case e != nil:
		return e.problem(errors.New(said))
	case k != nil:
		return k.problem(p.patchNamed(k, said), errors.New(said))
	}
	return p.atRoot(errors.New(said))
}

// unmatched matches kustomize's error about a patch whose target does not exist. The groups are the
// kind and the name of the target.
var unmatched = lazy.Regexp(`no (?:resource )?matches (?:for Id|strategic merge patch) "?([^.\s]+)\.[^/]*/([^.\s]+)\.`)

// patchNamed returns the node of the patch whose target an error names. It returns nil if there are
// no such patches or several.
func (p *plan) patchNamed(k *kustomization, said string) *yaml.Node {
	id := unmatched().FindStringSubmatch(said)
	if id == nil {
		return nil
	}
	var all []*yaml.Node
	add := func(doc *parsed, at *yaml.Node) {
		if doc == nil || doc.err != nil {
			return
		}
		for _, root := range doc.docs {
			if is := identityOf(root); is.kind == id[1] && is.name == id[2] {
				all = append(all, at)
				return
			}
		}
	}
	for _, e := range k.entries {
		if e.use == asPatch {
			add(p.parsed[p.tree.read(path.Join(k.dir, e.name)).name], e.node)
		}
	}
	for _, block := range k.inlinePatches() {
		add(inline(block.Value), block)
	}
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

// maxSaid is the number of bytes that are searched in an error message. Messages can be long,
// because kustomize prints whole objects.
const maxSaid = 10_000

// triedAsFile matches text that kustomize adds to an error message. It occurs once for every
// directory between the root and the error.
var triedAsFile = lazy.Regexp(`accumulation err='accumulating resources from '[^']*': [^']* is a directory': `)

// address matches the memory address that kustomize prints for a generator.
var address = lazy.Regexp(` &\{0x[0-9a-f]+ [^}]*\}`)

// mentioned finds the last directory that an error message names, and returns its kustomization. If
// the message names no directory, it returns the root's kustomization. best is the last entry of
// this kustomization that the message names, or nil.
func (p *plan) mentioned(said string) (in *kustomization, best *entry) {
	last := -1
	for _, k := range p.sorted() {
		dir := filepath.Join(p.tree.dir, filepath.FromSlash(k.dir))
		if at := strings.LastIndex(said, "'"+dir+"'"); at > last {
			in, last = k, at
		}
	}
	if in == nil {
		in = p.rootKustomization()
	}
	last = -1
	for _, e := range in.entries {
		for _, form := range []string{"'" + e.value + "'", `"` + e.value + `"`, "(" + e.value + ")"} {
			if at := strings.LastIndex(said, form); at > last {
				best, last = e, at
			}
		}
	}
	return in, best
}
