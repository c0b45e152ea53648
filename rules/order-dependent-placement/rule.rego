# METADATA
# title: Whether all pods fit depends on the scheduling order
# description: >-
#   Some scheduling orders place all pods. In the one shown, other pods take the nodes or the room that these
#   pods need, and the scheduler does not move pods afterwards. Where only room is short, it is reported if
#   simulated runs of kube-scheduler leave pods out. Keep the other pods off those nodes with a taint or
#   node selector, run fewer of them, add nodes, or make the rule preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["order-dependent-placement"]

import data.schedlint.result
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "order-dependent-placement"})) if {
	some row in input.orders
}
