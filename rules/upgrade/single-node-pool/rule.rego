# METADATA
# title: A pool of one node with workloads that can run nowhere else
# description: >-
#   While the only node of the pool is replaced, these workloads are down, as no other node can take their
#   pods. Give the pool a second node, let it grow (max: 2), or let the pods use another pool.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.single-node-pool"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "single-node-pool", "values": values}) if {
	some pool in input.pools
	pool.max == 1
	bound := [workload.ref |
		some w in pool.workloads
		workload := input.workloads[w]
		workload.permanent
		workload.usable_max == 1
	]
	count(bound) > 0
	values := {"pool": pool.name, "workloads": bound}
}
