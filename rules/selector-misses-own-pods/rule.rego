# METADATA
# title: Anti-affinity that selects no declared pods
# description: >-
#   Anti-affinity usually keeps the replicas of a workload apart. This term selects neither its own pods nor
#   other declared pods, so it has no effect. Often the selector uses a label that was renamed or never set;
#   make it match the labels of the pod template. The rule ignores labels that the operator of a declared
#   custom resource may set on its pods.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["selector-misses-own-pods"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.selectors
	fact.matches == 0
	fact.use == "anti-affinity"
	fact.maker == ""
	not namespaces_exclude_own(fact)
	lines := text.lines(fact.workload, [sprintf("the anti-affinity %s%s", [what(fact), text.hint(fact.nearest)])])
}

namespaces_exclude_own(fact) if {
	fact.matches_own == "always"
	fact.own_namespace == "never"
}

what(fact) := "has no labelSelector, so it matches no pods" if fact.form == "null"

what(fact) := sprintf("selects %s, which matches no declared pods, not even its own", [fact.text]) if fact.form != "null"
