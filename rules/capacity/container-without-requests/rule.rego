# METADATA
# title: A container without requests
# description: >-
#   The scheduler counts what pods request, and a container without requests counts as nothing: nodes are
#   overcommitted without anybody noticing, and the container is the first to be throttled or evicted. A
#   limit counts as a request, because the API server copies it, and so does a request of the whole pod. A
#   namespace is left out if a LimitRange among the manifests sets defaults for containers.
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
#       resources:
#         description: resources that each container has to request
#         type: array
#         items: {type: string}
#         default: [cpu, memory]
#       init_containers:
#         description: judge init containers, too
#         type: boolean
#         default: false
package schedlint.rules["capacity.container-without-requests"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), container, given) if {
	some workload in input.workloads
	workload.resources_known
	not workload.defaulted
	some container in workload.containers
	judged(container)
	lists := [container.requests, container.limits, workload.pod_level_requests, workload.pod_level_limits]
	requested := {amount.resource | some list in lists; some amount in list}
	missing := [resource | some resource in input.params.resources; not resource in requested]
	count(missing) > 0
	values := {"workload": workload.ref, "container": container.name, "resources": missing}
	given := {"reason": "container-without-requests", "values": values, "path": ["resources", "requests"], "of_container": true}
}

judged(container) if not container.init

judged(_) if input.params.init_containers
