# METADATA
# title: The loss of one zone leaves pods Pending
# description: >-
#   When all nodes of one zone, or of one other domain, are lost, its pods cannot all be placed on those
#   that remain, so the workload runs short just when it was meant to survive. It happens where each pod
#   needs a domain of its own, where a hard spread constraint goes on counting the domain as empty, and
#   where the other domains are too small. In the order of safety: set nodeTaintsPolicy: Honor, so nodes
#   that are unreachable do not count; raise maxSkew or set minDomains lower; add nodes to the other
#   domains; add a domain; make the rule preferred. Where fewer pods are enough for a while, turn the rule
#   off for the workload.
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
	fact.ending in {"sometimes", "never"}
	domain := sprintf("losing %s=%s%s", [fact.key, fact.value, text.like(fact.like, "domain")])
	message := text.line(fact.workload, [sprintf("%s %s%s", [domain, text.left(fact), object.get(when, fact.meaning, "")])])
}

when := {
	"gone": " if its Node objects are deleted",
	"ghost": " while its nodes are unreachable: their pods stay Terminating",
}
