package lint_test

import (
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// written finds the sources of positions in the result of a render, in the same way as for
// findings.
type written struct {
	renders  *locate.Renders
	rendered *locate.Rendered
}

// newWritten returns a written for the output of a render below dir, which is the root of the
// run.
func newWritten(dir string, asked locate.Render, out *render.Output) *written {
	r := locate.NewRenders(locate.NewFiles(source.Options{Dir: dir, Root: dir, Keep: workload.NewTable().Read, Drop: workload.Unread}, nil, &config.Config{}))
	asked.SetPrefix(dir)
	x, _ := r.Add(&asked, out)
	return &written{r, x}
}

// Result returns the text of the render.
func (w *written) Result() *source.File { return w.rendered.File }

// Place returns the source of a span in the result.
func (w *written) Place(s diag.Span) origin.Place { return w.renders.SourceOf(w.rendered, s) }

// Source returns a file that a place names.
func (w *written) Source(name string) *source.File { return w.renders.Files.ByName[name] }
