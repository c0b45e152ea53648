# METADATA
# title: The nodes do not hold all pods
# description: >-
#   The requests of all pods of a workload exceed what the eligible nodes offer even when nothing else runs on
#   them, or those of all workloads that may use no other nodes do so together: however they are placed, the
#   pods beyond stay Pending. Pods that end by themselves do not count. Lower the requests or the replicas, or
#   add nodes. Workloads that never share a cluster belong into different clusters of the configuration.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["cluster-too-small"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.room
	fact.verdict == "never"
	ask := sprintf("%s request %s", [text.number(fact.pods, "pod"), fact.request])
	room := sprintf("%s and %s %s", [text.eligible(fact), text.verb(fact.eligible, "has", "have"), fact.room])
	message := text.line(subject(fact), [ask, room, pending(fact), fact.growth])
}

subject(fact) := fact.workload if fact.others == 0

subject(fact) := sprintf("%s and %s", [fact.workload, text.number(fact.others, "other workload")]) if fact.others != 0

pending(fact) := text.pending(fact.pending) if fact.others == 0

pending(fact) := sprintf("at least %s", [text.pending(fact.pending)]) if fact.others != 0
