# METADATA
# title: Evicted pods may return to a drained node
# description: >-
#   The pods tolerate the taint node.kubernetes.io/unschedulable, which a cordon adds, so the scheduler may
#   place their replacements on the node that is drained. kubectl drain ends nevertheless. Cluster API and
#   Karpenter wait until the node is empty, and may evict the pods again and again. Tolerate only the taints
#   that the pods need.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["drained-pods-return"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "drained-pods-return") if {
	some row in input.drains
	row.blocked_by == "toleration"
}
