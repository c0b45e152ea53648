# METADATA
# title: Workloads wait for each other by required affinity
# description: >-
#   Each workload of the circle starts only beside pods of the next one, and none of them matches its own
#   term, so no pod of any of them is ever placed first. Workloads outside that wait for the circle wait
#   forever, too. Make one of the terms preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["circular-affinity"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.circles
	rest := concat(", which waits for ", array.slice(fact.members, 1, count(fact.members)))
	circle := sprintf("%s waits for %s", [fact.members[0], rest])
	lines := text.lines(fact.workload, [role(fact), circle, "none of their pods starts"])
}

role(fact) := "the required affinity is part of a circle" if fact.member

role(fact) := "the required affinity waits for a circle" if not fact.member
