package lint

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// PointerID identifies a GitOps pointer.
type PointerID struct {
	Kind            pointers.Kind
	Namespace, Name string
}

// Unfollowed is a GitOps pointer for which there is no render.
type Unfollowed struct {
	// Kind and Name identify the pointer.
	Kind pointers.Kind
	Name string
	// Why is the general reason, and Detail adds what is specific to this pointer.
	Why, Detail string
	// File and the fields after it are the pointer's location. File is relative to Root.
	File         string
	Line, Column int
	// Wanted is the address and version of what is in another repository, or "".
	Wanted string
	// Render is the name that the render would have.
	Render string
	// Suspended is set if the pointer is suspended and intentionally deploys nothing. Wrong is set
	// if the pointer has an error.
	Suspended, Wrong bool
}

// Renderer renders roots and returns their outputs in the same order.
type Renderer func(ctx context.Context, roots []render.Root) []*render.Output

// renderAll builds the renders. If a render succeeds, the files that it uses are not checked on
// their own.
func (l *loader) renderAll() {
	l.summary.note(l.opts.Notes...)
	suspended := 0
	for _, u := range l.opts.Unfollowed {
		switch {
		case u.Suspended:
			suspended++
			continue
		case u.Wrong:
			span := diag.Span{File: u.File, Line: u.Line, Column: u.Column, EndLine: u.Line, EndColumn: u.Column + 1}
			l.set.Problems = append(l.set.Problems, source.Problem{Kind: source.RenderRefused, Detail: u.Why + ": " + u.Detail, Span: span})
		}
		if at := locate.FileLine(u.File, u.Line); !l.count(u.Kind.Inputs(), false, u.Wrong, at, l.files.FromConfig(u.File), u.Name) {
			l.summary.Unrendered++
			l.summary.Vendor = l.summary.Vendor || strings.HasSuffix(u.Detail, diag.Vendor)
			l.summary.leaveOpen("GitOps pointer that is not rendered ("+u.Why+")", at)
		}
	}
	if suspended > 0 {
		l.summary.note(fmt.Sprintf("suspended GitOps pointers, which are not rendered: %d", suspended))
	}
	if len(l.opts.Renders) == 0 || l.opts.Renderer == nil {
		return
	}
	var roots []render.Root
	var asked []*locate.Render
	for i := range l.opts.Renders {
		if x := &l.opts.Renders[i]; len(x.Files) > 0 {
			// The output of another tool.
			set, err := source.Load(l.files.Reading, x.Files)
			if err != nil {
				l.failures.fail(fmt.Errorf("render %s: %w", x.Name, err))
			}
			l.files.Keep(set)
			l.set.Problems = append(l.set.Problems, set.Problems...)
			for _, f := range set.Files {
				l.renders.Reached[f.Name] = true
				l.given[f.Name] = true
			}
			l.renders.All = append(l.renders.All, &locate.Rendered{Render: *x, Objects: set.Objects})
		} else {
			x.Root.Texts = l.opts.Edited
			roots, asked = append(roots, x.Root), append(asked, x)
		}
	}
	for i, out := range l.opts.Renderer(l.ctx, roots) {
		x := asked[i]
		x.SetPrefix(l.opts.Root)
		if x.Root.Chart != nil && x.Root.Chart.Archive == "" {
			l.charts[x.FromRoot(x.Root.Dir)] = true
		}
		l.onlyTracked(x, out)
		if out.Problem != nil {
			l.recordUnrendered(x, out.Problem)
		} else {
			l.addResult(x, out)
		}
	}
	l.countRenders()
	l.removeUsedFiles()
}

// countRoot counts a kustomization or chart that schedlint was to render (see count).
func (l *loader) countRoot(x *locate.Render, rendered, told bool, at string) (accepted bool) {
	kind, names := "kustomizations", []string{x.Name, x.Dir}
	if x.Root.Chart != nil {
		kind = "charts"
	}
	if !x.Pointer.IsZero() {
		names = []string{x.Name, l.files.FromConfig(x.Pointer.File), x.PointerName}
		switch {
		case x.Argo:
			kind = "Applications"
		case x.Root.Chart != nil:
			kind = "releases"
		}
	}
	return l.count(kind, rendered, told, at, names...)
}

// count counts an input that deploys pods. It reports whether the input is not rendered and the
// configuration accepts that by the input's path or by one of its names. told is set if a finding
// says that the input is not rendered.
func (l *loader) count(kind string, rendered, told bool, at string, names ...string) (accepted bool) {
	i := slices.IndexFunc(l.summary.Inputs, func(k diag.Inputs) bool { return k.Kind == kind })
	if i < 0 {
		i = len(l.summary.Inputs)
		l.summary.Inputs = append(l.summary.Inputs, diag.Inputs{Kind: kind})
	}
	of := &l.summary.Inputs[i]
	if of.Found++; rendered {
		of.Rendered++
		return false
	}
	for i := range l.opts.Config.Unrendered {
		u := &l.opts.Config.Unrendered[i]
		if !u.Means(names...) {
			continue
		}
		if l.accepting[i] = true; !accepted {
			of.Accepted++
			l.summary.skips.add(&l.summary.skips.accepted, u.Reason, at)
		}
		accepted = true
	}
	l.summary.silent = l.summary.silent || !accepted && !told
	return accepted
}

// countPassedBy counts pointers that were not examined, for example pointers in chart output or in
// a file named on the command line. The objects that these pointers deploy are not checked. The
// questions that Flux HelmReleases leave open are not included, because other code counts them.
func (l *loader) countPassedBy() {
	seen := map[PointerID]bool{}
	look := func(objects []*source.Object) {
		for _, o := range objects {
			kind, ok := pointers.KindOf(o.Group(), o.Kind)
			id := PointerID{kind, o.Namespace, o.Name}
			if !ok || l.opts.Followed[id] {
				continue
			}
			accepted, known := seen[id]
			if !known {
				file := l.renders.InSources(o.NameSpan()).File
				accepted = l.count(kind.Inputs(), false, false, l.renders.At(o), l.files.FromConfig(file), o.Name)
				seen[id] = accepted
			}
			if !accepted && l.opts.Followed != nil && kind != pointers.FluxHelmRelease {
				l.summary.leaveOpen(notFollowed, l.renders.At(o))
			}
		}
	}
	look(l.set.Objects)
	for _, x := range l.renders.All {
		look(x.Objects)
	}
}

// notFollowed is the reason for a pointer that was not examined.
const notFollowed = "GitOps pointer that is not followed"

// addResult reads the result of a render.
func (l *loader) addResult(asked *locate.Render, out *render.Output) {
	x, problems := l.renders.Add(asked, out)
	for _, p := range problems { // kubectl can read kustomize output, so schedlint must be able to
		if p.Kind == source.DuplicateKey && asked.Root.Chart != nil {
			l.recordDuplicateKey(x, p)
			continue
		}
		l.failures.leave(diag.Failure{
			Stage: diag.StageRead, File: x.Kustomization(), Line: 1,
			Message: fmt.Sprintf("the result of render %s: %s: %s", asked.Name, p.Kind, p.Detail),
		})
	}
	for _, p := range out.Unchecked {
		l.summary.note(l.files.Display(asked.FromRoot(p.File)) + ": " + locate.Start(p.Detail, mostReason))
	}
	for _, name := range out.Sources {
		l.renders.Reached[asked.FromRoot(name)] = true
	}
	l.addPlainObjects(x)
}

// countRenders adds the renders to the summary, with notes on renders that were not requested
// explicitly.
func (l *loader) countRenders() {
	l.summary.Renders = len(l.renders.All)
	found, charts, pointed := 0, 0, 0
	for _, x := range l.renders.All {
		if x.Out != nil {
			l.countRoot(&x.Render, true, false, "")
		}
		switch {
		case x.Root.Overlay != nil:
			pointed++
		case x.Root.Chart != nil && x.Entry == nil && !x.Requested && len(x.Pointers) == 0:
			charts++
		case x.Entry == nil && !x.Requested:
			found++
		}
	}
	if pointed > 0 {
		l.summary.note(fmt.Sprintf("rendered GitOps pointers: %d; files that they use are not checked separately (--render off checks all files as written)", pointed))
	}
	if found > 0 {
		l.summary.note(fmt.Sprintf("rendered kustomizations: %d; files that they use are not checked separately (--render off checks all files as written)", found))
	}
	if charts > 0 {
		l.summary.note(fmt.Sprintf("rendered charts: %d, with their default values; files that they use are not checked separately (--render off checks all files as written)", charts))
	}
	if n := len(l.renders.Assumed); n > 0 {
		l.summary.note(fmt.Sprintf("charts rendered with the assumed release name %s: %d (--release-name, or name under renders, sets it)", chart.DefaultRelease, n))
	}
	l.chartsNotRendered()
}

// onlyTracked makes a render fail if it reads an untracked file.
func (l *loader) onlyTracked(asked *locate.Render, out *render.Output) {
	if l.opts.Tracked == nil || out.Problem != nil {
		return
	}
	for _, name := range slices.Concat(out.Sources, out.Data) {
		// the chart's output may depend on such a file although it contains no text from it
		shapes := path.Ext(name) == ".tgz" || slices.Contains([]string{".helmignore", "values.schema.json", "requirements.yaml", "requirements.lock", "Chart.lock"}, path.Base(name))
		if asked.Root.Chart != nil && !slices.Contains(out.Sources, name) && !shapes {
			continue // templates can at most print the file
		}
		if !l.opts.Tracked(filepath.Join(asked.Root.Confinement, filepath.FromSlash(name))) {
			out.Problem = &render.Problem{
				Kind: render.Failed, File: name, Line: 1, Column: 1,
				Detail: "the render uses this file, which git does not track: add it, or omit --git-tracked",
			}
			return
		}
	}
}

// recordUnrendered records a failed render. The failure is usually not an error if the render was
// not requested explicitly. The root may not be meant to be built here.
func (l *loader) recordUnrendered(asked *locate.Render, p *render.Problem) {
	span := diag.Span{File: asked.FromRoot(p.File), Line: max(1, p.Line), Column: max(1, p.Column), EndLine: max(1, p.Line), EndColumn: max(1, p.Column) + 1}
	if at, ok := l.opts.Config.SettingPlace(asked.Chosen, p.Setting); ok {
		at.File = l.files.ShowConfig()
		span = at
	}
	what := notRendered[p.Kind]
	switch {
	case asked.Root.Chart != nil:
		what = chartNotRendered[p.Kind]
	case asked.Root.Overlay != nil:
		what = strings.Replace(what, "kustomization", "GitOps pointer", 1)
	}
	told := asked.Requested || p.Wrong || p.Kind == render.Repeated
	if at := locate.FileLine(span.File, span.Line); !l.countRoot(asked, false, told, at) {
		l.summary.Unrendered++
		l.summary.Vendor = l.summary.Vendor || strings.HasSuffix(p.Detail, diag.Vendor)
		l.summary.leaveOpen(what, at)
	}
	l.renders.Failed = append(l.renders.Failed, asked.Name)
	problem := source.Problem{Kind: source.RenderFailed, Detail: p.Detail, Span: span}
	if p.Kind != render.Failed {
		problem.Kind = source.RenderRefused
	}
	switch {
	case p.Kind == render.Repeated:
		problem.Kind, problem.Merged = source.DuplicateKey, true
		problem.First = diag.Span{File: asked.FromRoot(p.First.File), Line: p.First.Line, Column: 1, EndLine: p.First.Line, EndColumn: 2}
		l.set.Problems = append(l.set.Problems, problem)
	case p.Kind == render.Spent: // a failure, because otherwise added renders could hide the findings of this one
		if !l.renders.Spent {
			l.failures.leave(diag.Failure{Stage: diag.StageRead, File: span.File, Line: span.Line, Message: p.Detail})
		}
		l.renders.Spent = true
	case p.Kind == render.Lost: // a failure, as other runs may have a result
		l.failures.leave(diag.Failure{Stage: diag.StageRead, File: span.File, Line: span.Line, Message: p.Detail})
	case !told:
		l.renders.Quiet[asked.Name] = problem
	case p.Kind == render.Killed:
		l.failures.leave(diag.Failure{Stage: diag.StageRead, File: span.File, Line: span.Line, Message: p.Detail})
	default:
		l.set.Problems = append(l.set.Problems, problem)
	}
}

// notRendered holds the reasons that the summary gives for not rendering a kustomization.
var notRendered = map[string]string{
	render.Failed:  "kustomization that does not build",
	render.Refused: "kustomization that is not rendered here",
	render.Killed:  "kustomization that takes too long to render",
	render.Lost:    "kustomization whose worker was killed",
	render.Spent:   "kustomization beyond the limits of a run",

	render.Repeated: "kustomization that does not build",
}

// removeUsedFiles removes the objects in files that renders use. The renders are checked instead.
// removeUsedFiles counts the removed objects that do not appear in any render.
func (l *loader) removeUsedFiles() {
	reached := l.renders.Reached
	l.set.Objects = slices.DeleteFunc(slices.Clone(l.set.Objects), func(o *source.Object) bool {
		if !reached[o.File.Name] {
			return false
		}
		if !l.given[o.File.Name] {
			l.renders.Raw = append(l.renders.Raw, o)
		}
		return true
	})
	l.set.Skipped = slices.DeleteFunc(slices.Clone(l.set.Skipped), func(s source.Skipped) bool {
		return reached[s.File] && slices.Contains(usedByRenders, s.Reason)
	})
	// Files outside the paths are also read. The count of objects in no render is therefore the
	// same for all paths.
	beside := lists.Where(sorting.Keys(reached), func(name string) bool { return l.files.ByName[name] == nil })
	if len(beside) > 0 {
		set := l.readMore(beside)
		l.renders.Raw, l.beside = append(l.renders.Raw, set.Objects...), set.Files
	}
	contained, raw := l.renders.Contained(), locate.ByFile(l.renders.Raw)
	for _, file := range sorting.Keys(raw) {
		if !slices.ContainsFunc(raw[file], l.table.Declares) {
			continue
		}
		for range len(raw[file]) - len(contained[file]) {
			if l.files.Copied(file) {
				break // most of a copy may serve others
			}
			l.summary.skip(inNoRender, locate.FileLine(file, 1))
		}
	}
}

// removeTemplates removes the templates of charts from the input. If a kustomization inflates a
// chart or a render of the chart was requested, only the chart's output is checked. All files in
// the chart's templates/ directory are then templates. In other charts, such a file is a template
// only if it does not parse and contains an action.
func (l *loader) removeTemplates() {
	charts := map[string]bool{}
	for _, s := range l.set.Skipped {
		if s.Reason == source.SkipHelmChart {
			charts[path.Dir(s.File)] = true
		}
	}
	declared := func(dir string) bool { return charts[dir] }
	action := func(file string) bool {
		f := l.files.ByName[file]
		return f != nil && bytes.Contains(f.Text, []byte("{{"))
	}
	tried := func(chart string) bool { return l.charts[chart] || l.set.Inflated[chart] }
	skip := func(file string, line int) {
		if !l.renders.Reached[file] {
			l.set.Skipped = append(l.set.Skipped, source.Skipped{Reason: source.SkipTemplate, File: file, Line: line})
		}
	}
	l.set.Problems = slices.DeleteFunc(slices.Clone(l.set.Problems), func(p source.Problem) bool {
		switch file := p.Span.File; {
		case p.Kind == source.Unreadable || p.Kind == source.RenderFailed || p.Kind == source.RenderRefused:
			return false
		case p.Kind == source.DuplicateKey:
			return !p.Merged && !p.LastCounts && isTemplate(file, tried) // Merged and LastCounts are problems of chart output, not of templates
		case isTemplate(file, tried) || p.Kind == source.Unparsable && isTemplate(file, declared) && action(file):
			skip(file, p.Span.Line)
		default:
			return false
		}
		return true
	})
	l.set.Objects = slices.DeleteFunc(slices.Clone(l.set.Objects), func(o *source.Object) bool {
		if !isTemplate(o.File.Name, tried) {
			return false
		}
		skip(o.File.Name, int(max(1, o.Root.Line)))
		return true
	})
}

// isTemplate reports whether a file is in the templates/ directory of a chart, or of a subchart in
// its charts/ directory.
func isTemplate(name string, chart func(dir string) bool) bool {
	for at := path.Dir(name); at != "." && at != "/"; at = path.Dir(at) {
		if path.Base(at) != "templates" {
			continue
		}
		for dir := path.Dir(at); ; dir = path.Dir(path.Dir(dir)) {
			if chart(dir) {
				return true
			}
			if path.Base(path.Dir(dir)) != "charts" {
				break
			}
		}
	}
	return false
}

// usedByRenders lists reasons for skipping a file. If a render uses the file, these reasons no
// longer apply, and the file counts as checked.
var usedByRenders = []string{
	source.SkipKustomization, source.SkipPatch, source.SkipJSONPatch,
	source.SkipTemplate, source.SkipHelmValues, source.SkipHelmChart,
}

// inNoRender is the reason for not checking an object whose file is used by a render. No render
// contains the object.
const inNoRender = "object that no render contains"

// readMore reads files outside the paths. It returns an empty set if a file has disappeared
// since it was rendered.
func (l *loader) readMore(names []string) *source.Set {
	var paths []string
	for _, name := range names {
		at := filepath.Join(worktree.Resolved(l.opts.Root), filepath.FromSlash(name))
		if rel, err := filepath.Rel(worktree.Resolved(l.opts.Dir), at); err == nil {
			at = rel // as the user would write it
		}
		paths = append(paths, at)
	}
	opts := l.files.Reading
	opts.Tracked, opts.Stdin = nil, nil
	set, err := source.Load(opts, paths)
	if err != nil {
		return &source.Set{}
	}
	l.files.Keep(set)
	return set
}

// addPlainObjects adds the objects in a chart's crds/ directory to the render of the chart, because
// the chart deploys them unchanged. It does not add CustomResourceDefinitions.
func (l *loader) addPlainObjects(x *locate.Rendered) {
	for _, name := range x.Out.Plain {
		name = x.FromRoot(name)
		objects := lazy.Cached(l.asWritten, name, func() []*source.Object {
			if l.files.ByName[name] == nil {
				set := l.readMore([]string{name})
				l.set.Problems = append(l.set.Problems, set.Problems...)
				return set.Objects
			}
			if l.byFile == nil {
				l.byFile = locate.ByFile(l.set.Objects)
			}
			return l.byFile[name]
		})
		if len(objects) > 0 {
			l.renders.Reached[name], l.given[name] = true, true
			x.Objects = append(x.Objects, objects...)
		}
	}
}

// recordDuplicateKey records a duplicate key in chart output. Flux passes everything except hooks
// through kyaml, which rejects duplicate keys (helm-controller: internal/postrender/common.go).
// Helm and Argo CD read manifests with sigs.k8s.io/yaml and use the last value of a duplicate key
// (helm: pkg/releaseutil/manifest_sorter.go, pkg/kube/client.go; argo-cd:
// gitops-engine/pkg/utils/kube). For Helm and Argo CD, a duplicate key is recorded only if its
// object is checked.
func (l *loader) recordDuplicateKey(x *locate.Rendered, p source.Problem) {
	o := locate.Around(x.Objects, p.Span.Line, p.Span.Column)
	if d, ok := x.Document(p.Span.Line); !ok || o != nil && int(o.Root.Line) < d.Line {
		o = nil // the key is in a document that was not read
	}
	p.Merged = !x.Pointer.IsZero() && !x.Argo && (o == nil || o.Hook == "")
	p.LastCounts = !p.Merged
	if p.LastCounts && (o == nil || !l.table.Judged(o)) {
		return
	}
	p.Span, p.First = l.renders.PrintedBy(x, p.Span), l.renders.PrintedBy(x, p.First)
	if !slices.Contains(l.set.Problems, p) { // each render of the chart has the same problem
		l.set.Problems = append(l.set.Problems, p)
	}
}

// chartNotRendered holds the reasons that the summary gives for not rendering a chart.
var chartNotRendered = map[string]string{
	render.Failed:  "chart that does not render",
	render.Refused: "chart that is not rendered here",
	render.Killed:  "chart that takes too long to render",
	render.Lost:    "chart whose worker was killed",
	render.Spent:   "chart beyond the limits of a run",

	render.Repeated: "chart that does not render",
}

// mostReasons is the maximum number of reasons that chartsNotRendered lists. mostReason is the
// maximum length of each reason in bytes.
const mostReasons, mostReason = 3, 300

// chartsNotRendered adds notes explaining why charts failed to render. It only covers charts that
// were not requested explicitly.
func (l *loader) chartsNotRendered() {
	count := map[string]int{}
	var first []*locate.Render
	for i := range l.opts.Renders {
		x := &l.opts.Renders[i]
		p, quiet := l.renders.Quiet[x.Name]
		if x.Root.Chart == nil || !quiet {
			continue
		}
		if count[p.Detail]++; count[p.Detail] == 1 {
			first = append(first, x)
		}
	}
	for i, x := range first {
		if i == mostReasons {
			l.summary.note(fmt.Sprintf("charts are not rendered for %d more reasons: schedlint inputs lists them", len(first)-i))
			return
		}
		p := l.renders.Quiet[x.Name]
		l.summary.note(fmt.Sprintf("chart %s%s: %s: %s", x.Name, others(count[p.Detail]-1), locate.FileLine(l.files.Display(p.Span.File), p.Span.Line), locate.Start(p.Detail, mostReason)))
	}
}

// others formats the number of additional charts that failed to render.
func others(n int) string {
	switch n {
	case 0:
		return " is not rendered"
	case 1:
		return " and 1 other are not rendered"
	}
	return fmt.Sprintf(" and %d others are not rendered", n)
}
