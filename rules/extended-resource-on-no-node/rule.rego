# METADATA
# title: No node lists the requested extended resource
# description: >-
#   The pods request an extended resource that no declared node and no pool lists. A scheduler extender or
#   dynamic resource allocation may provide it, so whether the pods fit is unknown. Often the name is misspelt, or
#   the topology leaves the resource out. If the declared nodes list every extended resource that they have, set
#   extended-resources to complete in .schedlint.yaml, and such a request is an error.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.2.0
package schedlint.rules["extended-resource-on-no-node"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.requests
	fact.verdict == "unknown"
	ask := sprintf("each pod requests %s of %s, which no node lists, so whether it fits is unknown", [fact.request, fact.resource])
	lines := text.lines(fact.workload, [ask, text.meant(fact.suggestion)])
}
