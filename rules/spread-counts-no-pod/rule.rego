# METADATA
# title: A topologySpreadConstraint that counts no pods
# description: >-
#   A topologySpreadConstraint compares the number of matching pods per domain. When its selector matches no
#   pods, every domain has zero, every node is equally good, and the constraint has no effect. Add a
#   labelSelector that matches the labels of the pod template.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://github.com/kubernetes/kubernetes/issues/141339
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["spread-counts-no-pod"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "spread-counts-no-pod") if {
	some row in input.selectors
	row.use == "spread"
	row.form in {"null", "empty"}
}

report contains result.reason(rego.metadata.chain(), row, "spread-counts-no-pod") if {
	some row in input.selectors
	row.use == "spread"
	row.matches == 0
}
