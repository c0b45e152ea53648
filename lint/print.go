package lint

import (
	"context"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// Printed holds the texts of the renders of a run.
type Printed struct {
	Texts []Text
	// Problems holds the problems that Run reports as findings, and Quiet those of renders that were
	// not requested explicitly.
	Problems, Quiet []source.Problem
	Failures        diag.Failures
	// Display returns the name of a file as the user would write it.
	Display func(file string) string
}

// Text is the text of a render.
type Text struct {
	Name string
	*render.Output
	// Places holds the source of each line, as a finding there would have it, if it was asked for.
	Places []origin.Place
}

// Print renders what o selects, and judges nothing. The argument trace asks for the source of each
// line. What another tool has rendered is left out.
func Print(ctx context.Context, o Options, trace bool) (*Printed, error) {
	r := newRun(ctx, o, nil)
	m := r.load()
	p := &Printed{Failures: r.failures.undone, Display: r.files.Display}
	for _, x := range r.renders.All {
		if x.Out == nil {
			continue
		}
		text := Text{Name: x.Name, Output: x.Out}
		if trace {
			text.Places = r.renders.Trace(x)
		}
		p.Texts = append(p.Texts, text)
	}
	for _, problem := range m.set.Problems {
		if slices.Contains([]source.ProblemKind{source.RenderFailed, source.RenderRefused}, problem.Kind) || problem.Kind == source.DuplicateKey && problem.Merged {
			p.Problems = append(p.Problems, problem)
		}
	}
	for _, name := range r.renders.Failed {
		if problem, quiet := r.renders.Quiet[name]; quiet {
			p.Quiet = append(p.Quiet, problem)
		}
	}
	return p, r.failures.err()
}
