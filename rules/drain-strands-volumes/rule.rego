# METADATA
# title: Pods wait for the node or zone of their volumes
# description: >-
#   The volumes of these pods can only be used on the node, or in the zone, where they were made. When that
#   node is drained, or no other node of the zone takes the pods, they stay Pending until it is back. This is
#   how the storage class works, so the finding is a note unless all pods, a majority of them, or more than a
#   disruption budget allows wait at the same time. The wait of a single pod for its own node is not reported.
#   Replicate the data in the application, or use a class whose volumes can be used on several nodes.
# related_resources:
#   - https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["drain-strands-volumes"]

import data.schedlint.result
import data.schedlint.strands

report contains result.worded(rego.metadata.chain(), row, strands.lowered(row, {"reason": "drain-strands-volumes"})) if {
	some row in input.drains
	row.outcome in {"sometimes", "never"}
	row.waits != ""
	not usual(row)
}

usual(row) if {
	row.waits == "node"
	row.pods == 1
}
