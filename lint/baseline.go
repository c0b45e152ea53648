package lint

import (
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
)

// applyAcceptances separates the findings that count from those that a suppression or the baseline
// accepts.
func (r *run) applyAcceptances(report *diag.Report) {
	found := r.judge.take()
	r.suppressions.ofSources(found)
	kept, accepted, complaints := r.suppressions.apply(found)
	kept = append(kept, r.judge.findingsOnComplaints(complaints)...)
	if b := r.opts.Baseline; b != nil {
		b.File = r.files.Show(b.Path, b.Path, b.Text)
		if r.opts.Rebase {
			b.Take(diagnostics(kept), r.elsewhere())
		}
	}
	kept, based, healed, complaints := r.opts.Baseline.Apply(kept, r.opts.Today)
	kept = append(kept, r.judge.findingsOnComplaints(complaints)...)
	report.Diagnostics = diagnostics(kept)
	report.Accepted = diagnostics(append(accepted, based...))
	report.Suppressions = r.suppressions.inEffect()
	if r.opts.Baseline == nil {
		return
	}
	// A run that reads only a part of the files knows only about objects in that part.
	elsewhere := r.elsewhere()
	for _, key := range healed {
		if !elsewhere(key) && !r.judge.tally.HasFailed(key.Rule) {
			r.summary.Healed++
		}
	}
}

// elsewhere returns a function that reports whether a baseline key may be about a manifest that
// the run does not read.
func (r *run) elsewhere() func(diag.Key) bool {
	if r.files.Cover(filepath.Dir(locate.Absolute(r.files.Dir, r.opts.Baseline.Path))) {
		return func(diag.Key) bool { return false }
	}
	there := map[diag.Key]bool{}
	for key, all := range r.decisions {
		cluster, render, _ := strings.Cut(key, "\x00")
		for o := range all {
			d := diag.Diagnostic{Cluster: cluster, Render: render, Object: o}
			there[d.Key()] = true
		}
	}
	return func(key diag.Key) bool {
		key.Rule, key.Field, key.Branch = "", "", ""
		return !there[key]
	}
}

func diagnostics(findings []accept.Finding) []diag.Diagnostic {
	all := make([]diag.Diagnostic, len(findings))
	for i := range findings {
		all[i] = findings[i].Diagnostic
	}
	return all
}
