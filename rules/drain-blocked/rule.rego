# METADATA
# title: A disruption budget that lets no pod be evicted
# description: >-
#   A drain evicts pods through an API that refuses while their budget allows no disruption. A budget that
#   asks for as many healthy pods as there are never allows one, and the API refuses every eviction of a pod
#   that more than one budget selects. Upgrades of nodes then hang or end by force, which is what the budget
#   was to prevent. In the order of safety: run one more replica; write maxUnavailable: 1 instead of
#   minAvailable; leave one budget for each pod; remove the budget of a workload that may be down for a
#   moment.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
#   - https://github.com/kubernetes/kubernetes/issues/66811
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["drain-blocked"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.budgets
	lines := text.lines(fact.budget, [why(fact)])
}

why(fact) := sprintf("no pod of %s may be evicted%s, so a drain of its node never ends", [
	text.few(fact.selects), text.aside(fact.limit),
]) if fact.problem == "no-eviction"

why(fact) := sprintf("selects pods of %s that %s %s as well: the API refuses every eviction of a pod with more than one budget", [
	text.few(fact.selects), text.few(fact.others), text.verb(count(fact.others), "selects", "select"),
]) if fact.problem == "several"
