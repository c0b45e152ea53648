# METADATA
# title: No node is eligible for the pods
# description: >-
#   Taints, node selectors and required node affinity exclude every declared node, so no pod of the workload
#   is scheduled. The finding says how many nodes each filter excludes. Add the missing toleration or node
#   label, or correct the selector. A nodeName bypasses the scheduler: a pod for a node that does not exist
#   is deleted, and the kubelet rejects a pod that does not match its node.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["no-eligible-node"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "no-eligible-node") if {
	some row in input.eligibility
	row.outcome == "never"
	count(row.volumes) == 0
}
