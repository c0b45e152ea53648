// Package sched says what the scheduler can do with workloads on nodes: package search
// finds the answers, package check confirms them by its own reasoning, and what does not
// hold is unknown and told as an internal failure.
package sched

import (
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// New is the model of the workloads and the nodes of one cluster, of which every answer
// is checked.
func New(set *workload.Set, topo *topology.Topology) *model.Model {
	m := model.NewModel(set, topo)
	certificate.Confirm(m, check.Checker{})
	return m
}
