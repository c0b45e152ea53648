# METADATA
# title: An autoscaler can request more pods than fit
# description: >-
#   The declared pods fit, but not the maximum of the autoscaler: the excess pods stay Pending, so the
#   workload has less capacity under load than its owners expect. Node pools count at their maximum size.
#   Safest first: add nodes or raise the maximum of a node pool; use a topologySpreadConstraint instead of
#   required anti-affinity so that pods can share a node; lower the maximum to what fits so that alerts on
#   it are accurate.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["autoscaler-exceeds-domains"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.autoscalers
	fact.outcome == "never"
	pending := sprintf("%s would stay Pending", [text.number(fact.pending, "pod")])
	lines := text.lines(fact.workload, [scale(fact), limit(fact.reason), pending, fact.growth, fact.begins])
}

scale(fact) := sprintf("%s can scale to %s%s but only %d %s", [
	fact.scaler, text.number(fact.max, "pod"), default_note[fact["default"]], fact.most, text.verb(fact.most, "fits", "fit"),
])

limit("") := ""

limit(reason) := sprintf("limited by %s", [reason]) if reason != ""

default_note := {false: "", true: " by default"}
