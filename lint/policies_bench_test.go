package lint_test

import (
	"path/filepath"
	"testing"
)

// tenRules are the most expensive rules of the packs: they ask for losses, rollouts and
// capacity, iterate over all workloads with their pools, or report most of them.
const tenRules = `policies: [{pack: ha}, {pack: multi-tenant}, {pack: capacity}]
rules:
  "ha.*": off
  "multi-tenant.*": off
  "capacity.*": off
  ha.not-restored-after-loss: error
  ha.down-after-zone-loss: error
  ha.down-after-node-loss: error
  ha.quorum-in-one-zone: error
  ha.no-disruption-budget: error
  capacity.short-after-zone-loss: error
  multi-tenant.uses-foreign-pool: error
  multi-tenant.pool-shared-by-tenants: error
  multi-tenant.tolerates-every-taint: error
  capacity.short-after-node-loss: error
`

// mostForRules is the maximum CPU time that ten rules may add, as a multiple of the bare parse of
// the 2,000-file tree. It allows for a busy machine. On a quiet machine they add 2.2 times, and the
// goal is 2.5.
const mostForRules = 4

// BenchmarkPolicies measures what ten rules of packs add to a run over 3,000 Deployments and
// 300 nodes, and fails beyond the limit.
func BenchmarkPolicies(b *testing.B) {
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	largeCluster(b, dir, 300, 3000)
	writeFiles(b, dir, map[string]string{"none.yaml": "", "ten.yaml": tenRules})
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	nodes, manifests := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "manifests")
	lint := func(config string) cost {
		return measure(b, []int{0, 1}, schedlint, "lint", "--config", filepath.Join(dir, config), "-t", nodes, manifests)
	}
	var added, mib []float64
	for range max(b.N, 7) {
		floor, none, ten := measure(b, []int{0}, bare, tree), lint("none.yaml"), lint("ten.yaml")
		added, mib = append(added, (ten.cpu-none.cpu)/floor.cpu), append(mib, ten.mib)
	}
	within(b, added, mib, mostForRules, 275)
}
