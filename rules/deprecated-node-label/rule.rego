# METADATA
# title: A deprecated node label
# description: >-
#   The label was renamed years ago, and current releases and cloud providers no longer set it, so
#   selectors, affinity and topology keys that use it match no new nodes. Use the replacement. The rule
#   reports nothing if another term of the same affinity uses the new label, or if OpenShift objects are
#   declared, because OpenShift still sets node-role.kubernetes.io/master.
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
