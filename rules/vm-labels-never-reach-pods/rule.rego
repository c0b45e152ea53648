# METADATA
# title: Labels of a virtual machine that its pods do not carry
# description: >-
#   The pods of a VirtualMachine carry the labels of its template, not those in its own metadata, and the
#   scheduler looks at pods alone. A selector that asks for a label which only the machine has matches none
#   of its pods, so the rule keeps nothing apart, or waits for pods that never come. Put the label into the
#   template as well; machines that run take it over when they are restarted.
# related_resources:
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["vm-labels-never-reach-pods"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.outer_labels
	what := sprintf("its pods do not carry %s, which %s asks for: labels of the machine itself never reach them", [fact.label, fact.asked])
	lines := text.lines(fact.workload, [what, sprintf("put it into %s", [fact.inside])])
}
