package gitops

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// resolve gives the render of a source, or why there is none.
func (f *follower) resolve(p *pointers.Pointer, s *pointers.Source, from origin) (render.Root, pointers.Reason) {
	if s.Why.Some() {
		return render.Root{}, s.Why
	}
	if s.Chart != nil && s.Chart.Remote {
		return f.remote(p, s, from)
	}
	dir, why := f.directory(s)
	switch {
	case why.Some():
		return render.Root{}, why
	case s.Chart == nil && s.Form == pointers.Detected && f.holds(dir, chartFile):
		s.Chart = &pointers.Chart{Release: p.Name, Namespace: p.Destination.Namespace}
	}
	if why := f.artifactOf(s).check(dir, s.Chart != nil); why.Some() {
		return render.Root{}, why
	}
	if s.Chart != nil {
		return f.chart(p, s, from, render.Root{Dir: dir, Chart: &render.Chart{}})
	}
	counts := map[string]render.Variable{}
	for name, value := range s.Counts {
		counts[name] = render.Variable{Value: value.Text, File: cmp.Or(value.File, p.File), Line: value.Line, Column: value.Column}
	}
	o := &render.Overlay{
		File: p.File, Line: p.Line, Counts: counts, Fields: s.Fields, Patches: s.Patches, Namespace: s.Namespace, Labels: s.Labels,
		Variables: f.vars.of(p, from.parent),
	}
	if why := f.form(dir, s, o); why.Some() {
		return render.Root{}, why
	}
	return render.Root{Confinement: f.opts.Confinement, Dir: dir, Remotes: f.opts.Remotes, Overlay: o}, pointers.Reason{}
}

// directory is the one that a source names.
func (f *follower) directory(s *pointers.Source) (string, pointers.Reason) {
	whose := f.reader.Repositories.Ours(s.Repository)
	named := s.Repository.Name
	if s.Repository.URL != "" {
		named = pointers.Masked(s.Repository.URL)
	}
	if !whose.Is() {
		return "", pointers.Reason{What: pointers.WhyElsewhere, Detail: named}
	}
	switch e := f.entry(path.Join(f.opts.Base, s.Path)); {
	case e.Outside:
		return "", pointers.Reason{What: pointers.WhyOutside, Detail: s.Path + " leads out of it by a symbolic link, or belongs to git", Refused: true}
	case e.Info != nil && e.Info.IsDir():
		return e.Name, pointers.Reason{}
	case whose == pointers.Presumed:
		return "", pointers.Reason{What: pointers.WhyElsewhere, Detail: strings.TrimPrefix(named+", as ", ", as ") + s.Path + " is no directory here"}
	}
	return "", pointers.Reason{What: pointers.WhyMissing, Detail: s.Path}
}

// entry looks a name up among what belongs to what is looked at.
func (f *follower) entry(name string) worktree.Entry { return f.lookup.Tracked(name, f.opts.Tracked) }

func (f *follower) holds(dir, name string) bool {
	e := f.entry(path.Join(dir, name))
	return e.Info != nil && e.Info.Mode().IsRegular()
}

// form says what a directory is built from.
func (f *follower) form(dir string, s *pointers.Source, o *render.Overlay) pointers.Reason {
	form := s.Form
	kustomized := slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool {
		return f.holds(dir, name) && !f.artifactOf(s).without(path.Join(dir, name))
	})
	if form == pointers.Detected {
		if form = pointers.Directory; kustomized {
			form = pointers.Kustomized
		}
	}
	switch form {
	case pointers.Generated:
		if !kustomized {
			o.Generated, o.Resources = true, f.tree.generated(dir, f.artifactOf(s).without)
		}
	case pointers.Directory:
		names, jsonnet := f.tree.plain(dir, s.Files)
		if jsonnet {
			return pointers.Reason{What: pointers.WhyJsonnet, Detail: dir}
		}
		o.Generated, o.Plain, o.Resources = true, true, names
	}
	if f.names += len(o.Resources); f.names > f.most.names {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the directories without a kustomization that pointers name have more than %d files: add a kustomization.yaml", f.most.names), Refused: true}
	}
	if o.Generated && f.tree.over {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the repository has more than %d entries of directories", limits.TreeEntries)}
	}
	return pointers.Reason{}
}
