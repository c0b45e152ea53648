# METADATA
# title: A matchLabelKeys entry that no pod carries
# description: >-
#   matchLabelKeys and mismatchLabelKeys add the value that the pod carries under the key to the selector. A
#   key that the pod does not carry is skipped without notice, so the entry does nothing. Correct the key, or
#   add the label to the pod template.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["match-label-key-not-on-pod"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.label_keys
	fact.on_pod == "never"
	what := sprintf("%s names %s, which its pods do not carry, so the entry is skipped", [fact.list, fact.key])
	message := text.line(fact.workload, [what, text.meant(fact.nearest)])
}
