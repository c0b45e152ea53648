// Package sched decides what the scheduler can do with workloads on nodes. Package search finds the
// answers, and package check confirms them by independent reasoning. An answer that check refuses
// becomes unknown and is reported as an internal failure.
package sched

import (
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// New returns a model of the workloads and nodes of one cluster, with the checker that confirms
// every answer.
func New(set *workload.Set, topo *topology.Topology) *model.Model {
	m := model.NewModel(set, topo)
	certificate.Confirm(m, check.Checker{})
	return m
}
