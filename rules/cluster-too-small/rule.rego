# METADATA
# title: The nodes do not hold all pods of the workload
# description: >-
#   The requests of all pods of this one workload exceed what the eligible nodes offer even when nothing else
#   runs on them, so the pods beyond stay Pending. Lower the requests or the replicas, or add nodes.
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
	fact.verdict == "infeasible"
	hold := sprintf("%s and %s %d", [text.eligible(fact), text.verb(fact.eligible, "holds", "hold"), fact.most])
	message := text.line(fact.workload, [ask(fact), hold, text.pending(fact.pending), fact.growth])
}

ask(fact) := sprintf("%s request %s of %s each", [text.pods(fact, fact.pods), fact.request, fact.resource]) if {
	fact.resource != "pods"
}

ask(fact) := sprintf("%s take one pod slot each", [text.pods(fact, fact.pods)]) if fact.resource == "pods"
