# METADATA
# title: Pods with a device tolerate the taints of other pools
# description: >-
#   The pods request a device such as a GPU, and one of their tolerations opens a pool whose nodes do not offer
#   it. They can never run there, and the toleration lets their next version, without the device, onto nodes that
#   are reserved for others. Tolerate the taint of the pool with the device only.
# related_resources:
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
#       devices:
#         description: globs of the resources that count as devices
#         type: array
#         default: [nvidia.com/*, amd.com/gpu, gpu.intel.com/*]
#         items: {type: string}
package schedlint.rules["node-pools.device-pods-tolerate-more"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "device-pods-tolerate-more", "values": values}) if {
	some workload in input.workloads
	not workload.per_node
	some request in workload.pod_requests
	keys.listed(input.params.devices, request.resource)
	some toleration in workload.tolerations
	without := [pool.name |
		some pool in input.pools
		pool.name in toleration.pools
		count(pool.allocatable) > 0
		count([amount | some amount in pool.allocatable; amount.resource == request.resource]) == 0
	]
	count(without) > 0
	values := {"workload": workload.ref, "device": request.resource, "pools": without}
}
