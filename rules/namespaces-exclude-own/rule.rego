# METADATA
# title: The namespaces of a term leave out its own
# description: >-
#   As soon as a term lists namespaces or a namespaceSelector, its own namespace counts only if it is among
#   them. The selector of this term matches the workload's own pods, but the namespaces leave them out, and no
#   other declared pod matches. Add the own namespace, or drop the list.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["namespaces-exclude-own"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.selectors
	fact.matches == 0
	fact.use in {"affinity", "anti-affinity"}
	fact.matches_own == "always"
	fact.own_namespace == "never"
	message := text.line(fact.workload, [sprintf(
		"the %s selects %s, as its own pods are, but only in the namespaces %s; its own is not among them, and no declared pod matches",
		[fact.use, fact.text, fact.namespaces],
	)])
}
