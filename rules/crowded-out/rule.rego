# METADATA
# title: Workloads fit alone but not together
# description: >-
#   Required anti-affinity, host ports and the other hard rules of these workloads leave no placement of all
#   their pods, resources left aside, although each workload could be placed if it were alone, or each rule be
#   met if it were the only one: some pods stay Pending in every order. Run fewer pods, make one of the rules
#   preferred, or add nodes. Workloads that never share a cluster belong into different clusters of the
#   configuration.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.crowds
	fact.verdict == "never"
	message := text.line(concat(", ", fact.workloads), array.flatten([
		fit(fact), fact.reasons, text.pending(fact.pending), fact.growth,
	]))
}

fit(fact) := sprintf("of %s %s at most %d %s on the %s%s", [
	whose(fact), text.number(fact.pods, "pod"), fact.most, text.verb(fact.most, "fits", "fit"), text.number(fact.nodes, "node"), together(fact),
])

whose(fact) := {true: "its", false: "their"}[count(fact.workloads) == 1]

together(fact) := {true: "", false: " together"}[count(fact.workloads) == 1]
