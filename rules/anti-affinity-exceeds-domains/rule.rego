# METADATA
# title: Required anti-affinity asks for more domains than exist
# description: >-
#   Every pod needs a domain of its own, a domain being one value of the topology key, so pods beyond the
#   number of domains on eligible nodes stay Pending. Nodes that the pods may not use, such as a tainted
#   control plane, do not count. Lower the replicas, add nodes, or make the rule preferred or a topology
#   spread constraint.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["anti-affinity-exceeds-domains"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.anti_affinity
	fact.verdict == "never"
	message := text.line(fact.workload, array.flatten([
		need(fact), have(fact), fact.excluded, text.pending(fact.pending), fact.growth, fact.together,
	]))
}

need(fact) := sprintf("%s %s %d distinct %s values", [
	text.pods(fact, fact.pods), text.verb(fact.pods, "needs", "need"), fact.pods, fact.key,
])

have(fact) := sprintf("%s and %s %d%s", [
	text.eligible(fact), text.verb(fact.eligible, "gives", "give"), fact.domains, room(fact),
])

room(fact) := "" if fact.most == fact.domains

room(fact) := sprintf(", with room for %d", [fact.most]) if fact.most != fact.domains
