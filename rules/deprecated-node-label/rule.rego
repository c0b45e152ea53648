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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.node_labels
	fact.deprecated
	fact.on_nodes == 0
	not fact.beside
	fact.platform == ""
	what := sprintf("%s uses the deprecated node label %s, which is no longer set", [fact.where, fact.key])
	lines := text.lines(fact.workload, [what, instead(fact)])
}

instead(fact) := sprintf("use %s", [fact.replacement]) if fact.replacement != ""

instead(fact) := "" if fact.replacement == ""
