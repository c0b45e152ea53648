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

report contains result.reason(rego.metadata.chain(), row, "namespaces-exclude-own") if {
	some row in input.selectors
	row.matches == 0
	row.use in {"affinity", "anti-affinity"}
	row.matches_own == "always"
	row.own_namespace == "never"
}
