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

report contains result.reason(rego.metadata.chain(), row, "autoscaler-exceeds-domains") if {
	some row in input.autoscalers
	row.outcome == "never"
}
