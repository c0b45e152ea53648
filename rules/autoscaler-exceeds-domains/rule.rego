# METADATA
# title: An autoscaler may ask for more pods than fit
# description: >-
#   The pods that are declared fit, but not as many as the autoscaler may ask for: those beyond stay
#   Pending, and just under load the workload is smaller than its owners believe. Pools that grow are
#   counted at their largest. In the order of safety: add nodes or let a pool grow further; use a topology
#   spread constraint instead of required anti-affinity, so several pods may share a node; lower the maximum
#   to what fits, so that alerts on it tell the truth.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.autoscalers
	fact.verdict == "never"
	pending := sprintf("%s would stay Pending", [text.number(fact.pending, "pod")])
	fit := concat(": ", [part | some part in [ask(fact), fact.reason]; part != ""])
	message := text.line(fact.workload, [fit, pending, fact.growth, fact.begins])
}

ask(fact) := sprintf("%s may ask for %s%s, at most %d %s", [
	fact.scaler, text.number(fact.max, "pod"), default_note[fact["default"]], fact.most, text.verb(fact.most, "fits", "fit"),
])

default_note := {false: "", true: " by default"}
