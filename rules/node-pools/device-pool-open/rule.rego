# METADATA
# title: A pool with devices that other pods can use
# description: >-
#   The nodes of this pool offer a device such as a GPU, and workloads that do not request it can use
#   them: they take processors and memory that the pods with devices then lack, and keep costly nodes from
#   scaling down. Taint the pool and let only pods that request the device tolerate it. DaemonSets and
#   platform_namespaces are left out.
# related_resources:
#   - https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
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
#         description: globs of the resources that make a node costly
#         type: array
#         default: [nvidia.com/*, amd.com/gpu, gpu.intel.com/*]
#         items: {type: string}
#       platform_namespaces:
#         description: globs of namespaces whose workloads may use the pool all the same
#         type: array
#         default: [kube-system]
#         items: {type: string}
package schedlint.rules["node-pools.device-pool-open"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "device-pool-open", "values": values}) if {
	some pool in input.pools
	some amount in pool.allocatable
	keys.listed(input.params.devices, amount.resource)
	others := {input.workloads[w].ref |
		some w in pool.workloads
		input.workloads[w].known
		not input.workloads[w].per_node
		not keys.listed(input.params.platform_namespaces, input.workloads[w].namespace)
		count([r | some r in input.workloads[w].pod_requests; keys.listed(input.params.devices, r.resource)]) == 0
	}
	count(others) > 0
	values := {"pool": pool.name, "device": amount.resource, "workloads": sort(others)}
}
