package change

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/worktree"
)

// A change decides what is rendered, so that a new kustomization, chart or pointer may take over a file or
// a root of others: it is then checked as the new root deploys it, and no longer as it is. The
// functions here judge the work tree once more with the roots of the revision, and find what is lost.

// asBefore returns the options of a run that renders the roots of a revision as far as they still exist, and
// that checks the files that the revision checks as they are written. Objects that the change adds act only
// on objects of their directory and their render. The result taken is false if this makes no difference.
func (now *Judged) asBefore(t *tree, before *lint.Options, raw []string, acting []diag.Object) (o lint.Options, taken bool) {
	root, err := filepath.EvalSymlinks(now.options.Root)
	if err != nil || now.options.Config.OwnOnly() != before.Config.OwnOnly() { // the configuration skips other directories
		return o, false
	}
	o = now.options
	o.Renders, o.Raw, o.Foreign, o.Compared, o.Progress = nil, nil, map[diag.Object]bool{}, true, nil
	if o.Seen != nil {
		o.Seen = lint.SeenNodes{}
	}
	for _, x := range before.Renders {
		i := slices.IndexFunc(now.options.Renders, func(r lint.Render) bool { return r.Name == x.Name })
		if i >= 0 {
			o.Renders = append(o.Renders, now.options.Renders[i])
			continue
		}
		if below, ok := worktree.Below(t.Dir, x.Root.Confinement); ok {
			x.Root.Confinement = filepath.Join(root, below)
		}
		at, is := filepath.Join(x.Root.Confinement, filepath.FromSlash(x.Root.Dir)), inputs.IsKustomization
		if x.Root.Chart != nil {
			is = inputs.IsChart
		}
		// The owner of a pointer may suspend it.
		if len(x.Files) == 0 && is(at) && (x.Pointer.IsZero() || t.unchanged(root, x.Pointer.File)) {
			o.Renders, taken = append(o.Renders, x), true
		}
	}
	if o.Renderer == nil {
		o.Renderer = before.Renderer
	}
	acted, read := lists.Set(acting), lists.Set(now.Report.Raw)
	for _, id := range now.Report.Acting {
		if !acted[id] {
			o.Foreign[id], taken = true, true
		}
	}
	for _, name := range raw {
		if !read[name] && worktree.Check(root, name, maxFile) == nil {
			o.Raw, taken = append(o.Raw, name), true
		}
	}
	return o, taken
}

// unchanged reports whether a file is the same in the work tree.
func (t *tree) unchanged(root, name string) bool {
	was, err := worktree.ReadFile(t.Dir, name, maxFile)
	is, missing := worktree.ReadFile(root, name, maxFile)
	return err == nil && missing == nil && bytes.Equal(was, is)
}

// lost runs the rules with the roots of a revision. Of the findings that the revision had and the work tree
// no longer has, it returns those that are then still there, with the place that takes over.
func (now *Judged) lost(ctx context.Context, t *tree, o lint.Options, gone []diag.Diagnostic) (still []diag.Diagnostic, by []string, err error) {
	then, err := lint.Run(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("the roots of the revision cannot be checked: %w", err)
	}
	named, first := now.takers(t)
	for _, i := range accept.Remaining(gone, then.Diagnostics) {
		d, place := gone[i], ""
		for id := range o.Foreign {
			name := diag.ObjectName(id.Kind, id.Namespace, id.Name)
			if (id.Namespace == d.Object.Namespace || id.Kind == "Namespace") && (place == "" || name < place) {
				place = name
			}
		}
		at := d.Location.File
		for named[at] == "" && at != "." {
			at = path.Dir(at)
		}
		still, by = append(still, d), append(by, cmp.Or(named[at], place, first, "the change"))
	}
	return still, by, nil
}

// takers maps files and directories to the places at which the change names them in a kustomization, a chart
// or a pointer. first is the first of these that it changes.
func (now *Judged) takers(t *tree) (named map[string]string, first string) {
	named = map[string]string{}
	for _, name := range now.Report.Deciding {
		text, err := worktree.ReadFile(now.options.Root, name, maxFile)
		if err != nil || t.unchanged(now.options.Root, name) {
			continue
		}
		first = cmp.Or(first, name+":1")
		for i, line := range strings.Split(string(text), "\n") {
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\"'{}[],:", r) }) {
				for _, from := range []string{path.Dir(name), "."} {
					if at := path.Join(from, word); at != path.Dir(name) && at != "." {
						named[at] = cmp.Or(named[at], fmt.Sprintf("%s:%d", name, i+1))
					}
				}
			}
		}
	}
	return named, first
}

// takenOver moves findings from those that are fixed, gone or no longer decided to the silences.
func (now *Judged) takenOver(ctx context.Context, t *tree, before *Judged) error {
	o, taken := now.asBefore(t, &before.options, before.Report.Raw, before.Report.Acting)
	c := now.Report.Change
	gone := slices.Concat(c.Fixed, c.Gone, c.Undecided)
	if !taken || len(gone) == 0 {
		return nil
	}
	still, by, err := now.lost(ctx, t, o, gone)
	type spot struct {
		key diag.Key
		at  diag.Span
	}
	at := func(d diag.Diagnostic) spot { return spot{d.Key(), d.Location} }
	over := lists.SetOf(still, at)
	for _, list := range []*[]diag.Diagnostic{&c.Fixed, &c.Gone, &c.Undecided} {
		*list = slices.DeleteFunc(*list, func(d diag.Diagnostic) bool { return over[at(d)] })
	}
	for i := range still {
		c.Silences = append(c.Silences, diag.Silence{Message: fmt.Sprintf("taken over by %s: %s [%s]", by[i], still[i].Message, still[i].Rule), Location: still[i].Location})
	}
	return err
}

// TakenOver adds the findings of the ConfigFrom revision that the change takes over. They are those of the
// work tree with the roots of the revision.
func (now *Judged) TakenOver(ctx context.Context, r *Request) error {
	from := now.From
	o, taken := now.asBefore(from.tree, &from.before, from.raw, from.acting)
	if !taken {
		return nil
	}
	before, err := from.tree.judge(ctx, now, r)
	if err != nil {
		why := strings.ReplaceAll(from.Clean(err).Error(), "\n", "; ")
		now.Report.Summary.Notes = append(now.Report.Summary.Notes, fmt.Sprintf("%s cannot be checked, so what the change takes over is unknown: %s", r.ConfigFrom, why))
		return nil
	}
	still, by, err := now.lost(ctx, from.tree, o, accept.Lost(now.Report, before.Report))
	for i := range still {
		still[i].Details = append(slices.Clip(still[i].Details), fmt.Sprintf("taken over by %s; %s checks the file as written", by[i], r.ConfigFrom))
	}
	now.Report.Diagnostics = append(now.Report.Diagnostics, still...)
	return err
}
