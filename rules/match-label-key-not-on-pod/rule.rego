# METADATA
# title: A matchLabelKeys entry that the pods do not have
# description: >-
#   matchLabelKeys and mismatchLabelKeys add the value of that pod label to the selector. A key that the pod
#   does not have is silently ignored. Correct the key, or add the label to the pod template.
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

report contains result.reason(rego.metadata.chain(), row, "match-label-key-not-on-pod") if {
	some row in input.label_keys
	row.on_pod == "never"
}
