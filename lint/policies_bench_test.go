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

// BenchmarkPolicies measures what ten rules of packs add to a run over 3,000 Deployments and 300 nodes.
func BenchmarkPolicies(b *testing.B) {
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	largeCluster(b, dir, 300, 3000)
	writeFiles(b, dir, map[string]string{"none.yaml": "", "ten.yaml": tenRules})
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	nodes, manifests := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "manifests")
	lint := func(config, shows string) cost {
		return measure(b, []int{0, 1}, shows, schedlint, "lint", "--config", filepath.Join(dir, config), "-t", nodes, manifests)
	}
	timesBare(b, 5, 3.8, 275, parsed(b, bare, tree), func() cost {
		none, ten := lint("none.yaml", "3000 workloads, 300 nodes"), lint("ten.yaml", `\[(ha|capacity|multi-tenant)\.`)
		return cost{ten.cpu - none.cpu, ten.mib}
	})
}
