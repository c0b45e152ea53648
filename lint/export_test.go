package lint

import (
	"context"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// Written finds where the result of one render was written, as findings are moved there.
type Written struct {
	run      *run
	rendered *rendered
}

// NewWritten is for the output of a render below dir, which is the root of the run.
func NewWritten(dir string, asked Render, out *render.Output) *Written {
	r := newRun(context.Background(), Options{Dir: dir, Root: dir}, nil)
	asked.setPrefix(dir)
	r.takeIn(&asked, out)
	return &Written{r, r.rendered[0]}
}

// Result is the text of the render.
func (w *Written) Result() *source.File { return w.rendered.file }

// Place is where a place of the result was written.
func (w *Written) Place(s diag.Span) origin.Place { return w.run.written(w.rendered, s) }

// Source is a file that a place names.
func (w *Written) Source(name string) *source.File { return w.run.files[name] }
