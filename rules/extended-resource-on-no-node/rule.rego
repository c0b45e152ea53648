# METADATA
# title: No node lists the requested extended resource
# description: >-
#   The pods request an extended resource that no declared node or node pool lists. A scheduler extender or
#   dynamic resource allocation may provide it, so it is unknown whether the pods fit. Often the name is
#   misspelled, or the topology omits the resource. If the declared nodes list every extended resource they
#   have, set extended-resources to complete in .schedlint.yaml, and such a request becomes an error.
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

report contains result.reason(rego.metadata.chain(), row, "extended-resource-on-no-node") if {
	some row in input.requests
	row.unlisted
}
