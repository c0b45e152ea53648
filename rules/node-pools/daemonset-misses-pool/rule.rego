# METADATA
# title: A DaemonSet that a taint keeps off a pool
# description: >-
#   Agents for logs, metrics, networks or storage have to run on every node. Here a taint keeps the
#   DaemonSet off all nodes of a pool that its nodeSelector and node affinity allow, so the pool runs
#   without it. Tolerate the taint, or say by node affinity which pools it is for. The list of pools has
#   those that platforms name by a label, so the nodes of a control plane do not count. A DaemonSet whose
#   rules have a variable is not judged.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [node-pools]
#   params:
#     type: object
#     properties:
#       except:
#         description: globs of pools that DaemonSets need not run on
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.daemonset-misses-pool"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "daemonset-misses-pool", "values": values}) if {
	some workload in input.workloads
	workload.per_node
	missed := [pool | some pool in workload.tainted_pools; not keys.listed(input.params.except, pool)]
	count(missed) > 0
	values := {"workload": workload.ref, "pools": missed}
}
