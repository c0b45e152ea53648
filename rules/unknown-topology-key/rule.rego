# METADATA
# title: A topology key that Kubernetes does not set
# description: >-
#   The topology key looks like a well-known node label but no component of Kubernetes sets it, so most likely
#   no node carries it and the rule does nothing or places no pod. Without a declared topology this is judged
#   by name alone. Correct the key, or declare nodes that carry it.
# related_resources:
#   - https://kubernetes.io/docs/reference/labels-annotations-taints/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["unknown-topology-key"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.topology_keys
	not fact.declared
	not fact.known
	what := sprintf("Kubernetes sets no node label %s, which the %s uses as topology key", [fact.key, uses[fact.use]])
	lines := text.lines(fact.workload, [what, text.meant(fact.suggestion)])
}

uses := {"affinity": "affinity", "anti-affinity": "anti-affinity", "spread": "spread constraint"}
