# METADATA
# title: A PriorityClass that probably does not exist
# description: >-
#   No manifest declares a PriorityClass with this name, and one or two letters make it the name of one that is
#   declared or built in. Or the pods name no class, but set a priority or preemptionPolicy that only a class
#   with globalDefault gives them, and no manifest declares one. If the cluster has no such class, the API server
#   rejects every pod. Correct the name, remove the field, or declare the class.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["unknown-priority-class"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "unknown-priority-class") if {
	some row in input.refusals
	row.stage == "class"
}
