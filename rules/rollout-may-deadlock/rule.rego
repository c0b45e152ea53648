# METADATA
# title: A rollout that may get stuck
# description: >-
#   Some runs of the update complete and others end with a new pod that fits nowhere while the old ones wait
#   for it: it depends on where the scheduler happens to place pods and on which old pod goes first. The
#   finding tells of such an end. It happens on nodes with little room, where rules look at old and new pods
#   alike, and where several workloads share nodes; nothing moves by itself afterwards. In the order of
#   safety: set maxUnavailable: 1 and maxSurge: 0, so pods go before others come; lower the requests or keep
#   other workloads off those nodes; add a node; make the rule preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["rollout-may-deadlock"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.rollouts
	fact.ending == "sometimes"
	message := text.line(fact.workload, [text.rollout(fact, "may get stuck"), fact.arithmetic, stuck(fact)])
}

stuck(fact) := text.room(fact) if fact.state == ""

stuck(fact) := sprintf("with %s, a new pod fits nowhere%s", [fact.state, text.aside(fact.refused)]) if fact.state != ""
