package model

import "github.com/schedlint/schedlint/lint/workload"

// FragmentTerms returns the terms of placement fields that belong to no workload. Only the
// topology key of such a term is meaningful, because an operator decides which pods the
// term applies to.
func FragmentTerms(w *workload.Workload) []*Term { return terms(w) }
