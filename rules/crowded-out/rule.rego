# METADATA
# title: Workloads fit alone but not together
# description: >-
#   Required anti-affinity, host ports and other hard rules leave no placement for all pods of these
#   workloads, even without resource requests, although each workload or each rule alone can be satisfied.
#   Some pods stay Pending in every scheduling order. Run fewer pods, make one of the rules preferred, or
#   add nodes. Declare workloads that never share a cluster in separate clusters in the configuration.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["crowded-out"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.crowds
	fact.outcome == "never"
	lines := text.lines(concat(", ", fact.workloads), array.flatten([
		fit(fact), fact.reasons, text.pending(fact.pending), fact.growth,
	]))
}

fit(fact) := sprintf("only %d of %s %s on the %s%s", [
	fact.most, text.number(fact.pods, "pod"), text.verb(fact.most, "fits", "fit"), text.number(fact.nodes, "node"), together(fact),
])

together(fact) := {true: "", false: " at the same time"}[count(fact.workloads) == 1]
