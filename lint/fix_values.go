package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// editedRenders returns the renders after applying the edits of some files to the values that
// pointers took from these files, and the charts that this changes.
func (m *fixer) editedRenders(files []FixedFile) (all []locate.Render, changed map[*render.Chart]bool) {
	all, changed = slices.Clone(m.options.Renders), map[*render.Chart]bool{}
	for i := range all {
		x := &all[i]
		for _, f := range files {
			for _, e := range f.Edits {
				if next, some, _ := x.WithEdit(e, m.options.Root, m.before.Source); some {
					x.Root.Chart = next
					changed[next] = true
				}
			}
		}
	}
	return all, changed
}

// effectKnown reports whether the effect of an edit on all values that pointers took from its file
// is known.
func (m *fixer) effectKnown(e diag.Edit) bool {
	return !slices.ContainsFunc(m.options.Renders, func(x locate.Render) bool {
		_, _, sure := x.WithEdit(e, m.options.Root, m.before.Source)
		return !sure
	})
}
