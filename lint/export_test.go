package lint

import (
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Written finds where the result of one render was written, in the same way as for findings.
type Written struct {
	renders  *renders
	rendered *rendered
}

// NewWritten returns a Written for the output of a render below dir, which is the root of the
// run.
func NewWritten(dir string, asked Render, out *render.Output) *Written {
	r := newRenders(newFiles(&Options{Dir: dir, Root: dir, Config: &config.Config{}}, workload.NewTable()))
	asked.setPrefix(dir)
	x, _ := r.add(&asked, out)
	return &Written{r, x}
}

// Result returns the text of the render.
func (w *Written) Result() *source.File { return w.rendered.file }

// Place returns where a place of the result was written.
func (w *Written) Place(s diag.Span) origin.Place { return w.renders.sourceOf(w.rendered, s) }

// Source returns a file that a place names.
func (w *Written) Source(name string) *source.File { return w.renders.files.byName[name] }
