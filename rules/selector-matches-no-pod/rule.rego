# METADATA
# title: Pod affinity that selects no declared pods
# description: >-
#   Pod affinity schedules pods next to the pods that it selects, and it selects no declared pods. A
#   required term then waits for pods from elsewhere; a preferred one has no effect. Often the selector uses
#   a label that was renamed or never set. The rule ignores labels that the operator of a declared custom
#   resource may set on its pods.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["selector-matches-no-pod"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.selectors
	[fact.use, fact.matches, fact.maker] == ["affinity", 0, ""]
	not reported_elsewhere(fact)
	lines := text.lines(fact.workload, [sprintf("the affinity %s%s", [what(fact), text.hint(fact.nearest)])])
}

reported_elsewhere(fact) if {
	fact.hard
	fact.form == "null"
}

reported_elsewhere(fact) if {
	fact.matches_own == "always"
	fact.own_namespace == "never"
}

what(fact) := "has no labelSelector, so it matches no pods" if fact.form == "null"

what(fact) := sprintf("selects %s, which matches none of the %d declared workloads", [fact.text, fact.declared]) if fact.form != "null"
