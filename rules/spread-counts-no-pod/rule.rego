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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.selectors
	fact.use == "spread"
	lines := text.lines(fact.workload, [sprintf("the topologySpreadConstraint %s", [what(fact)])])
}

what(fact) := "has no labelSelector, so it counts no pods" if fact.form == "null"

what(fact) := "has an empty labelSelector, which counts no pods in Kubernetes v1.36 (kubernetes/kubernetes#141339)" if {
	fact.form == "empty"
}

what(fact) := sprintf("selects %s, which matches no pods in its namespace%s", [fact.text, text.hint(fact.nearest)]) if {
	fact.form == "set"
	fact.matches == 0
}
