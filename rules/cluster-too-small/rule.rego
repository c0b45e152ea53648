# METADATA
# title: The nodes do not have enough capacity for all pods
# description: >-
#   The pods of one workload, or of several workloads limited to the same nodes, request more than the
#   eligible nodes have even when nothing else runs on them, so some pods stay Pending in every placement.
#   Pods that run to completion do not count. Lower the requests, run fewer replicas, or add nodes. Declare
#   workloads that never share a cluster in separate clusters in the configuration.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.room
	fact.outcome == "never"
	lines := text.lines(subject(fact), [
		sprintf("%s %s %s, but eligible nodes have %s", [
			text.number(fact.pods, "pod"), text.verb(fact.pods, "requests", "request"), fact.request, fact.room,
		]),
		text.eligible(fact), pending(fact), fact.growth,
	])
}

subject(fact) := fact.workload if fact.others == 0

subject(fact) := sprintf("%s and %s", [fact.workload, text.number(fact.others, "other workload")]) if fact.others != 0

pending(fact) := text.pending(fact.pending) if fact.others == 0

pending(fact) := sprintf("at least %s", [text.pending(fact.pending)]) if fact.others != 0
