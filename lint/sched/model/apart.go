package model

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// MaybeApart reports whether it is unknown if a hard rule keeps the pods of a workload
// apart: its selector, or one of their labels, still holds a placeholder.
func (m *Model) MaybeApart(w *workload.Workload) bool {
	return slices.ContainsFunc(m.Group(w).Terms, func(t *Term) bool {
		return t.Hard && t.Use != Affinity && m.Peer(t, w, w) == Maybe
	})
}
