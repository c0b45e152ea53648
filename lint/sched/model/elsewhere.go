package model

import "github.com/schedlint/schedlint/lint/workload"

// Elsewhere are the workloads that may be there or not. Selectors find them, so
// that nothing is said to match no pod because of what other files may hold; they
// take no part in decisions, and what counts on them is open.
func (m *Model) Elsewhere() []*workload.Workload { return m.elsewhere }
