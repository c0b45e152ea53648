# METADATA
# title: Pod affinity that selects no declared pod
# description: >-
#   Pod affinity places pods beside those that it selects, and it selects none of the declared ones. A
#   required term then waits for pods from elsewhere, a preferred one does nothing. Often the selector names a
#   label that was renamed or never set. Nothing is said about labels that the operator of a declared custom
#   resource may give to its pods.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.selectors
	[fact.use, fact.matches, fact.maker] == ["affinity", 0, ""]
	not reported_elsewhere(fact)
	message := text.line(fact.workload, [sprintf("the affinity %s%s", [what(fact), text.hint(fact.nearest)])])
}

reported_elsewhere(fact) if {
	fact.hard
	fact.form == "null"
}

reported_elsewhere(fact) if {
	fact.matches_own == "always"
	fact.own_namespace == "never"
}

what(fact) := "has no labelSelector, so it matches no pod" if fact.form == "null"

what(fact) := sprintf("selects %s, which matches none of the %d declared workloads", [fact.text, fact.declared]) if fact.form != "null"
