# METADATA
# title: After the loss of a zone, pods wait for their volumes
# description: >-
#   The volumes of these pods can only be used in the zone, or on the node, where they were made. When that
#   zone is lost, the pods stay Pending until it is back, whatever room the other zones have. This is how the
#   storage class works, so the finding is a note unless all pods or a majority of them wait. Replicate the
#   data in the application and spread its pods over the zones, or use a class with volumes that are
#   replicated across zones.
# related_resources:
#   - https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity
#   - https://kubernetes.io/docs/setup/best-practices/multiple-zones/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["zone-loss-strands-volumes"]

import data.schedlint.result
import data.schedlint.strands

report contains result.worded(rego.metadata.chain(), row, strands.lowered(row, {"reason": "zone-loss-strands-volumes"})) if {
	some row in input.losses
	row.required
	row.key != "kubernetes.io/hostname"
	row.outcome in {"sometimes", "never"}
	row.waits != ""
}
