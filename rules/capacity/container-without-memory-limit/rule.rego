# METADATA
# title: A container without a memory limit
# description: >-
#   Without a memory limit a leak grows until the node runs out of memory, and the kernel or the kubelet
#   then kills pods that have nothing to do with it. A limit of the whole pod counts. A namespace
#   is left out if a LimitRange among the manifests sets defaults for containers.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [capacity]
#   params:
#     type: object
#     properties:
#       init_containers:
#         description: judge init containers, too
#         type: boolean
#         default: false
package schedlint.rules["capacity.container-without-memory-limit"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), container, given) if {
	some workload in input.workloads
	workload.resources_known
	not workload.defaulted
	some container in workload.containers
	judged(container)
	limits := array.concat(container.limits, workload.pod_level_limits)
	not "memory" in {amount.resource | some amount in limits}
	values := {"workload": workload.ref, "container": container.name}
	given := {"reason": "container-without-memory-limit", "values": values, "path": ["resources", "limits"], "of_container": true}
}

judged(container) if not container.init

judged(_) if input.params.init_containers
