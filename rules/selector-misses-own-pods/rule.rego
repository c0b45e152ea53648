# METADATA
# title: Anti-affinity that selects no declared pod
# description: >-
#   Anti-affinity is mostly written to keep the replicas of a workload apart. This one selects neither its own
#   pods nor any others that are declared, so nothing is kept apart. Often the selector names a label that was
#   renamed or never set; make it match the labels of the pod template. Nothing is said about labels that the
#   operator of a declared custom resource may give to its pods.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.selectors
	fact.matches == 0
	fact.use == "anti-affinity"
	fact.maker == ""
	not namespaces_exclude_own(fact)
	message := text.line(fact.workload, [sprintf("the anti-affinity %s%s", [what(fact), text.hint(fact.nearest)])])
}

namespaces_exclude_own(fact) if {
	fact.matches_own == "always"
	fact.own_namespace == "never"
}

what(fact) := "has no labelSelector, so it matches no pod" if fact.form == "null"

what(fact) := sprintf("selects %s, which matches no declared pod, not even its own", [fact.text]) if fact.form != "null"
