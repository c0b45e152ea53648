package model

import "github.com/schedlint/schedlint/lint/workload"

// Elsewhere returns the workloads that may or may not be deployed. Selectors find them, so
// that no rule is reported to match no pod although another file may declare one. They
// take no part in decisions, and what depends on them is open.
func (m *Model) Elsewhere() []*workload.Workload { return m.elsewhere }
