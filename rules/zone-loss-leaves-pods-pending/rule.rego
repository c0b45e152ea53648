# METADATA
# title: The loss of one zone leaves pods Pending
# description: >-
#   When all nodes of one zone, or of another kind of domain, are lost, the remaining nodes cannot take all
#   of its pods, so the workload runs short exactly when it should survive. This happens when each pod needs
#   its own domain, when a hard topologySpreadConstraint still counts the domain as empty, or when the other
#   domains lack capacity. Safest first: set nodeTaintsPolicy: Honor so that unreachable nodes do not count;
#   raise maxSkew or lower minDomains; add nodes to the other domains; add a domain; make the rule
#   preferred. If fewer pods are enough for a while, turn the rule off for the workload.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://github.com/kubernetes/kubernetes/issues/116978
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["zone-loss-leaves-pods-pending"]

import data.schedlint.result
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "zone-loss-leaves-pods-pending"})) if {
	some row in input.losses
	row.required
	row.key != "kubernetes.io/hostname"
	row.outcome in {"sometimes", "never"}
	row.waits == ""
}
