# METADATA
# title: The loss of one zone leaves pods Pending
# description: >-
#   When all nodes of one zone, or of another kind of domain, are lost, the remaining nodes cannot take all
#   of its pods, so the workload runs short exactly when it should survive. This happens when each pod needs
#   its own domain, when a hard topologySpreadConstraint still counts the domain as empty, or when the other
#   domains lack capacity. Safest first: set nodeTaintsPolicy: Honor so that unreachable nodes do not count;
#   raise maxSkew or lower minDomains; add nodes to the other domains; add a domain; make the rule
#   preferred. If fewer pods are enough for a while, turn the rule off for the workload.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://github.com/kubernetes/kubernetes/issues/116978
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["zone-loss-leaves-pods-pending"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.losses
	fact.key != "kubernetes.io/hostname"
	fact.outcome in {"sometimes", "never"}
	domain := sprintf("losing %s=%s%s", [fact.key, fact.value, text.like(fact.like, "domain")])
	message := sprintf("%s: %s %s%s", [fact.workload, domain, text.left(fact), object.get(when, fact.meaning, "")])
}

when := {
	"gone": " if its Node objects are deleted",
	"unreachable": " while its nodes are unreachable (their pods stay Terminating)",
}
