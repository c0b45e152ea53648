# METADATA
# title: Required anti-affinity needs more domains than exist
# description: >-
#   Each pod needs its own domain, that is its own value of the topology key, so pods in excess of the
#   domains on eligible nodes stay Pending. Nodes that the pods cannot use, such as a tainted control plane,
#   do not count. Run fewer replicas, add nodes, make the rule preferred, or use a topologySpreadConstraint
#   instead.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.anti_affinity
	fact.outcome == "never"
	lines := text.lines(fact.workload, array.flatten([
		sprintf("%s, but %s", [need(fact), have(fact)]),
		text.eligible(fact), fact.excluded, text.pending(fact.pending), fact.growth, fact.together,
	]))
}

need(fact) := sprintf("%s %s %d distinct %s values", [
	text.pods(fact, fact.pods), text.verb(fact.pods, "needs", "need"), fact.pods, fact.key,
])

have(fact) := sprintf("eligible nodes have only %d", [fact.domains]) if fact.most == fact.domains

have(fact) := sprintf("eligible nodes have %d and only %d %s", [
	fact.domains, fact.most, text.verb(fact.most, "pod fits", "pods fit"),
]) if fact.most != fact.domains
