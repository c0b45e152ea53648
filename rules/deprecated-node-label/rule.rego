# METADATA
# title: A deprecated node label
# description: >-
#   The label was renamed years ago. Kubernetes still sets it for operating system and architecture, and
#   cloud providers for zone, region and instance type, but other nodes lack it, and a future release may
#   drop it: selectors, affinity and topology keys that use it then match no node. Use the replacement. The
#   rule reports nothing if another term of the same affinity uses the new label, if nodes are declared with
#   the label, or if OpenShift objects are declared, because OpenShift still sets
#   node-role.kubernetes.io/master.
# related_resources:
#   - https://kubernetes.io/docs/reference/labels-annotations-taints/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["deprecated-node-label"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "deprecated-node-label") if {
	some row in input.node_labels
	row.deprecated
	row.on_nodes == 0
	not row.beside
	row.platform == ""
}
