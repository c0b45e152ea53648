# METADATA
# title: Workloads wait for each other by required affinity
# description: >-
#   Each workload in the cycle is scheduled only next to pods of the next one, and none matches its own
#   term, so none of them can be scheduled first. Workloads outside the cycle that wait for it never start
#   either. Make one of the terms preferred.
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
	cycle := sprintf("%s: %s waits for %s", [role(fact), fact.members[0], rest])
	lines := text.lines(fact.workload, [cycle, "none of their pods can start"])
}

role(fact) := "its required affinity is part of a cycle" if fact.member

role(fact) := "its required affinity waits for a cycle" if not fact.member
