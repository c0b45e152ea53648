package model

import "github.com/schedlint/schedlint/lint/workload"

// FragmentTerms lists the terms of placement fields that belong to no workload. Of
// such a term only its topology key means something: which pods it is about, an
// operator decides.
func FragmentTerms(w *workload.Workload) []*Term { return terms(w) }
