package lint

import (
	"context"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
)

// Described holds the facts of each context, as rules see them.
type Described struct {
	Contexts []Context
	// Display returns the name of a file as the user would write it.
	Display func(file string) string
	// Work that was not done.
	Failures diag.Failures
}

// Context holds the facts of one context and the location of each row.
type Context struct {
	Facts *facts.Facts
	// Place returns the location of the row with an id, in a file that the user wrote.
	Place func(id int) diag.Span
}

// Facts returns all facts that rules can see, context by context. Every list is complete, and
// the loss of a node and of a zone is asked about. Problems of files are in the first context.
func Facts(ctx context.Context, o Options) (*Described, error) {
	o.Level = func(string) diag.Level { return diag.LevelOff }
	r := newRun(ctx, o, o.Survive)
	m := r.load()
	d := &Described{Display: r.files.Display}
	whole := func(s *scene) func() *derive.Built {
		in := r.input(s)
		in.Whole, in.Asked = func(string) bool { return true }, func(string) bool { return true }
		in.Asks = append(in.Asks, defaultLosses()...)
		return func() *derive.Built { return derive.Facts(in) }
	}
	each(r, r.clusters.parts(m), whole, func(a *pendingPart[*derive.Built]) {
		for x := range a.cluster.Contexts() {
			if a.cluster.entry != "" { // the parts of its renders have the facts
				continue
			}
			s, f, known := a.known(r)
			if !known {
				s = r.scene(a.cluster, x)
				f = whole(s)()
			}
			r.budget.spent += s.model.Run().Spent()
			r.recordRefusals(s)
			d.Contexts = append(d.Contexts, Context{f.Facts, func(id int) diag.Span { return r.renders.InSources(f.Subject(id).Location) }})
		}
	})
	if len(d.Contexts) > 0 {
		d.Contexts[0].add(derive.Facts(aboutFiles(m.set.Problems)), r.renders)
	}
	d.Failures = r.failures.undone
	return d, r.failures.err()
}

// add adds the problems of files.
func (c *Context) add(problems *derive.Built, renders *locate.Renders) {
	place, first := c.Place, len(c.Facts.Rows())
	c.Facts.Documents = problems.Documents
	for i := range c.Facts.Documents {
		c.Facts.Documents[i].ID += first
	}
	c.Place = func(id int) diag.Span {
		if id > first {
			return renders.InSources(problems.Subject(id - first).Location)
		}
		return place(id)
	}
}
