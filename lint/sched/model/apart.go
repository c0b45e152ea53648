package model

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// MaybeApart reports whether a hard rule keeps the pods of a workload apart or
// not: its selector, or a label of theirs, still holds a variable of a later tool.
func (m *Model) MaybeApart(w *workload.Workload) bool {
	return slices.ContainsFunc(m.Group(w).Terms, func(t *Term) bool {
		return t.Hard && t.Use != Affinity && m.Peer(t, w, w) == Maybe
	})
}
