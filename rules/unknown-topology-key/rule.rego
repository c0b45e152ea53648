# METADATA
# title: A topologyKey that Kubernetes does not set
# description: >-
#   The topology key looks like a well-known node label, but no Kubernetes component sets it, so most likely
#   no node has it and the rule has no effect or blocks every pod. Without a declared topology this is
#   checked by name only. Correct the key, or declare nodes that have it.
# related_resources:
#   - https://kubernetes.io/docs/reference/labels-annotations-taints/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["unknown-topology-key"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "unknown-topology-key") if {
	some row in input.topology_keys
	not row.declared
	not row.known
}
