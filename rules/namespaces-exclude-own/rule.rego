# METADATA
# title: A term excludes its own namespace
# description: >-
#   A term that sets namespaces or namespaceSelector applies to its own namespace only if they include it.
#   The selector of this term matches the pods of the workload, but the namespaces exclude them, and no
#   other declared pod matches. Add the namespace, or remove the list.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.selectors
	fact.matches == 0
	fact.use in {"affinity", "anti-affinity"}
	fact.matches_own == "always"
	fact.own_namespace == "never"
	what := sprintf("the %s selects the labels of its own pods (%s), but not in its own namespace", [fact.use, fact.text])
	lines := text.lines(fact.workload, [what, sprintf("the term applies to %s, where no declared pod matches", [fact.namespaces])])
}
