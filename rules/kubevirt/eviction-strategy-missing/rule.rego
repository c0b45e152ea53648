# METADATA
# title: A machine without an eviction strategy
# description: >-
#   Without evictionStrategy the KubeVirt resource of the cluster decides what a drain does to the
#   machine: shut it down, migrate it, or wait. The manifest does not say which, and a change of the
#   cluster's default changes it for all machines. Set evictionStrategy.
# related_resources:
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [kubevirt]
package schedlint.rules["kubevirt.eviction-strategy-missing"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "eviction-strategy-missing", "values": values}) if {
	some workload in input.workloads
	workload.machine.is
	workload.machine.eviction_strategy == ""
	workload.known
	values := {"workload": workload.ref}
}
