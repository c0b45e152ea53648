# METADATA
# title: A PriorityClass that does not exist
# description: >-
#   The API server rejects pods with a priorityClassName that no PriorityClass has
#   (plugin/pkg/admission/priority/admission.go), so the controller creates none. system-node-critical and
#   system-cluster-critical are built in. List in known those that the cluster has and no manifest declares.
#   Nothing is reported if the name, or that of a declared class, has a variable.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
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
#       known:
#         description: globs of classes that clusters have although no manifest declares them
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["capacity.priority-class-undeclared"]

import data.schedlint.keys
import data.schedlint.pods
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "priority-class-undeclared", "values": values, "path": path}) if {
	some workload in input.workloads
	workload.priority_class_declared == "never"
	not keys.listed(input.params.known, workload.priority_class)
	path := pods.path(workload, "priorityClassName")
	values := {"workload": workload.ref, "class": workload.priority_class}
}
