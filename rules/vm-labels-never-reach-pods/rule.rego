# METADATA
# title: Virtual machine labels that its pods do not have
# description: >-
#   The pods of a VirtualMachine get the labels of its template, not those of its own metadata, and the
#   scheduler reads only pod labels. A selector for a label that only the machine has matches none of its
#   pods, so the rule has no effect or waits for pods that never start. Add the label to the template as
#   well; running machines get it when they restart.
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

report contains result.reason(rego.metadata.chain(), row, "vm-labels-never-reach-pods") if {
	some row in input.outer_labels
}
