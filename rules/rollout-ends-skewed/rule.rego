# METADATA
# title: A rollout that can exceed maxSkew
# description: >-
#   During a rollout a topologySpreadConstraint counts old and new pods. When the old pods are gone, the new
#   ones can exceed maxSkew, and nothing rebalances them until the next rollout, so losing the fullest
#   domain takes down more pods than planned. matchLabelKeys: [pod-template-hash] in the constraint counts
#   each revision separately and prevents the skew. The cost: with little spare capacity rollouts get stuck
#   more often (of 216 such configurations, enumerated in full, 39 can get stuck, against 10 without it).
#   Add capacity first, or accept the skew; a descheduler can rebalance the pods afterwards.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://github.com/kubernetes/kubernetes/issues/98215
# schemas:
#   - input: schema.facts
# custom:
#   category: advice
#   since: v0.1.0
package schedlint.rules["rollout-ends-skewed"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "rollout-ends-skewed") if {
	some row in input.skews
	row.outcome == "sometimes"
}
