package lint

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/build"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Render is something to be judged as it is deployed, and not as its sources stand there.
type Render struct {
	// Chosen is what the configuration says of it; its Name is what outputs and
	// baselines call it.
	config.Chosen
	Root render.Root
	// Files are, instead, those that another tool rendered, relative to Dir, and
	// SourceRoot the directory that it rendered, or "".
	Files      []string
	SourceRoot string
	// prefix leads from the root of the run to what the render is confined to.
	prefix string
	// Named is set if somebody asked for it by its path: it is a mistake then if it
	// cannot be rendered, and a note in the summary else.
	Named bool
}

// Renderer renders roots; the outputs are in their order.
type Renderer func(ctx context.Context, roots []render.Root) []*render.Output

// rendered is a render that succeeded.
type rendered struct {
	Render
	out *render.Output
	// file is the result, and objects what it holds.
	file    *source.File
	objects []*source.Object
	marks   *origin.Marks // once needed
	mapper  *origin.Mapper
	stream  *source.Stream
	files   map[string]*source.File // that places were looked up in, by names from the confinement
}

// renders are what there is of renders in a run.
type renders struct {
	// rendered are those that succeeded, results the same by the names of their results.
	rendered []*rendered
	results  map[string]*rendered
	// reached are the files that they use, and given those of them that another tool
	// rendered. Raw are the objects in the others, rawFiles the same by their files once
	// needed, absent how many of a file no render contains, and loose the objects of all
	// other files.
	reached, given map[string]bool
	raw, loose     []*source.Object
	rawFiles       map[string][]*source.Object
	absent         map[string]int
	beside         []*source.File // that are in none of the paths
	// quietly are the problems of renders that nobody named, by the names of the renders.
	quietly map[string]source.Problem
	// nodesOf are the nodes of renders, by what they rest on, and nodesCounted is how many
	// the summary has of what belongs to no cluster.
	nodesOf      map[string]*declaredNodes
	nodesCounted int
	// around is everything by what selectors find, once needed.
	around *neighbours
	// renderReader reads for all renders, once needed: most have the same around them.
	renderReader *workload.Reader
}

func newRenders() renders {
	return renders{
		results: map[string]*rendered{}, given: map[string]bool{}, absent: map[string]int{},
		quietly: map[string]source.Problem{}, nodesOf: map[string]*declaredNodes{},
	}
}

// renderAll renders what is to be rendered. What a render reaches is not judged as it
// stands in the tree as well, if the render succeeds.
func (r *run) renderAll() {
	if len(r.Renders) == 0 || r.Renderer == nil {
		return
	}
	reached := map[string]bool{}
	var roots []render.Root
	var asked []*Render
	for i := range r.Renders {
		if x := &r.Renders[i]; len(x.Files) > 0 {
			r.readResult(x, reached)
		} else {
			x.Root.Texts = r.Edited
			roots, asked = append(roots, x.Root), append(asked, x)
		}
	}
	for i, out := range r.Renderer(r.ctx, roots) {
		asked[i].setPrefix(r.Root)
		r.onlyTracked(asked[i], out)
		if out.Problem != nil {
			r.unrendered(asked[i], out.Problem)
			continue
		}
		r.takeIn(asked[i], out)
		for _, name := range out.Sources {
			reached[asked[i].name(name)] = true
		}
	}
	r.countRenders()
	r.takeOut(reached)
}

// countRenders says in the summary what was rendered, and what nobody asked for by name.
func (r *run) countRenders() {
	r.report.Summary.Renders = len(r.rendered)
	found := 0
	for _, x := range r.rendered {
		r.report.Rendered = append(r.report.Rendered, x.Name)
		if x.Entry == nil && !x.Named {
			found++
		}
	}
	if found > 0 {
		r.note(fmt.Sprintf("rendered kustomizations: %d; files that they use are not checked separately (--render off checks all files as written)", found))
	}
}

// setPrefix notes how names from what the render is confined to become those from the root
// of the run.
func (x *Render) setPrefix(root string) {
	x.prefix = relative(filepath.ToSlash(resolved(root)), filepath.ToSlash(x.Root.Confinement))
}

// name is a name from the root of the run.
func (x *Render) name(confined string) string { return path.Join(x.prefix, confined) }

// takeIn reads the result of a render.
func (r *run) takeIn(asked *Render, out *render.Output) {
	name := resultName(asked.Name)
	set := source.LoadText(r.sourceOptions(), name, out.Text)
	set.Files[0].Result = true
	x := &rendered{Render: *asked, out: out, file: set.Files[0], objects: set.Objects}
	r.files[name] = x.file
	r.rendered = append(r.rendered, x)
	r.results[name] = x
	for _, p := range set.Problems { // what kustomize prints is read by kubectl, and so by us
		r.lost(diag.Failure{Stage: diag.StageRead, File: x.kustomization(), Line: 1, Message: fmt.Sprintf("the result of render %s: %s: %s", asked.Name, p.Kind, p.Detail)})
	}
}

// onlyTracked makes a render fail that reads a file which does not belong to what is
// looked at.
func (r *run) onlyTracked(asked *Render, out *render.Output) {
	if r.Tracked == nil || out.Problem != nil {
		return
	}
	for _, name := range slices.Concat(out.Sources, out.Data) {
		if !r.Tracked(filepath.Join(asked.Root.Confinement, filepath.FromSlash(name))) {
			out.Problem = &render.Problem{Kind: render.Failed, File: name, Line: 1, Column: 1, Detail: "the render uses this file, which git does not track: add it, or omit --git-tracked"}
			return
		}
	}
}

// readResult reads what another tool rendered.
func (r *run) readResult(asked *Render, reached map[string]bool) {
	set, err := source.Load(r.sourceOptions(), asked.Files)
	if err != nil {
		r.fail(fmt.Errorf("render %s: %w", asked.Name, err))
	}
	r.keep(set)
	r.set.Problems = append(r.set.Problems, set.Problems...)
	for _, f := range set.Files {
		reached[f.Name] = true
		r.given[f.Name] = true
	}
	r.rendered = append(r.rendered, &rendered{Render: *asked, objects: set.Objects})
}

// resultName stands for the result of a render, which is in no file.
func resultName(name string) string { return "<render " + name + ">" }

// unrendered tells of a render that there is not. What was found by itself is no mistake
// of the user's: it may never have been meant to be built here.
func (r *run) unrendered(asked *Render, p *render.Problem) {
	span := diag.Span{File: asked.name(p.File), Line: max(1, p.Line), Column: max(1, p.Column), EndLine: max(1, p.Line), EndColumn: max(1, p.Column) + 1}
	r.report.Summary.Unrendered++
	r.skips.add(&r.skips.unknown, notRendered[p.Kind], place(span.File, span.Line))
	r.report.NotRendered = append(r.report.NotRendered, asked.Name)
	problem := source.Problem{Kind: source.RenderFailed, Detail: p.Detail, Span: span}
	if p.Kind != render.Failed {
		problem.Kind = source.RenderRefused
	}
	switch {
	case !asked.Named:
		r.quietly[asked.Name] = problem
	case p.Kind == render.Killed:
		r.lost(diag.Failure{Stage: diag.StageRead, File: span.File, Line: span.Line, Message: p.Detail})
	default:
		r.set.Problems = append(r.set.Problems, problem)
	}
}

// quiet keeps what would be found of renders that nobody named: it counts if they could
// be rendered before a change.
func (r *run) quiet() {
	for _, name := range slices.Sorted(maps.Keys(r.quietly)) {
		in := build.Input{Model: sched.New(&workload.Set{}, nil), Problems: []source.Problem{r.quietly[name]}}
		for _, f := range r.findings(build.Facts(in), nil, nil, nil) {
			r.report.Quiet = append(r.report.Quiet, diag.Quiet{Render: name, Diagnostic: f.Diagnostic})
		}
	}
}

// notRendered are the words of the summary for what was not rendered.
var notRendered = map[string]string{
	render.Failed:  "kustomization that does not build",
	render.Refused: "kustomization that is not rendered here",
	render.Killed:  "kustomization that takes too long to render",
}

// takeOut leaves out of what is judged as it stands there what renders reach.
func (r *run) takeOut(reached map[string]bool) {
	contained := map[string]map[int]bool{}
	for _, x := range r.rendered {
		if x.out == nil {
			continue
		}
		for _, d := range x.out.Documents {
			if d.File < 0 {
				continue
			}
			name := x.name(x.out.Files[d.File])
			if contained[name] == nil {
				contained[name] = map[int]bool{}
			}
			contained[name][d.Index] = true
		}
	}
	r.reached = reached
	r.set.Objects = slices.DeleteFunc(slices.Clone(r.set.Objects), func(o *source.Object) bool {
		if !reached[o.File.Name] {
			return false
		}
		if !r.given[o.File.Name] {
			r.raw = append(r.raw, o)
		}
		return true
	})
	r.set.Skipped = slices.DeleteFunc(slices.Clone(r.set.Skipped), func(s source.Skipped) bool {
		return reached[s.File] && (s.Reason == source.SkipKustomization || s.Reason == source.SkipPatch || s.Reason == source.SkipJSONPatch)
	})
	r.readBeside()
	for file, all := range byFile(r.raw) {
		if n := len(all) - len(contained[file]); n > 0 && slices.ContainsFunc(all, r.table.Declares) {
			r.absent[file] = n
		}
	}
}

// readBeside reads the files that renders use and that are in none of the paths: what is
// in them is the same whatever the paths are.
func (r *run) readBeside() {
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(r.reached)) {
		if r.files[name] == nil {
			at := filepath.Join(resolved(r.Root), filepath.FromSlash(name))
			if rel, err := filepath.Rel(resolved(r.Dir), at); err == nil {
				at = rel // as the user would write it
			}
			paths = append(paths, at)
		}
	}
	if len(paths) == 0 {
		return
	}
	opts := r.sourceOptions()
	opts.Tracked, opts.Stdin = nil, nil
	set, err := source.Load(opts, paths)
	if err != nil {
		return // it was there for the render: what is gone since is in no place
	}
	r.keep(set)
	r.raw, r.beside = append(r.raw, set.Objects...), set.Files
}

// looseNodes are the NodeTopology documents of the tree: what is rendered is judged
// against them if no file with nodes is named.
func (r *run) looseNodes() (all []*source.Object) {
	for _, o := range r.loose {
		if o.Kind == "NodeTopology" && o.Group() == "schedlint.dev" {
			all = append(all, o)
		}
	}
	return all
}
