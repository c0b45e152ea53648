# METADATA
# title: A topology spread constraint that counts no pod
# description: >-
#   A spread constraint compares how many matching pods each domain holds. When its selector matches no pod,
#   all domains hold none, so every node is as good as any other and the constraint does nothing. Give it a
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
	lines := text.lines(fact.workload, [sprintf("the topology spread constraint %s", [what(fact)])])
}

what(fact) := "has no labelSelector, so it counts no pod" if fact.form == "null"

what(fact) := "has an empty labelSelector, which counts no pod on Kubernetes v1.36 (kubernetes/kubernetes#141339)" if {
	fact.form == "empty"
}

what(fact) := sprintf("selects %s, which matches no pod of its namespace%s", [fact.text, text.hint(fact.nearest)]) if {
	fact.form == "set"
	fact.matches == 0
}
