# METADATA
# title: Required anti-affinity needs more domains than exist
# description: >-
#   Each pod needs its own domain, that is its own value of the topology key, so pods in excess of the
#   domains on eligible nodes stay Pending. Nodes that the pods cannot use, such as a tainted control plane,
#   do not count. Run fewer replicas, add nodes, make the rule preferred, or use a topologySpreadConstraint
#   instead.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["anti-affinity-exceeds-domains"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "anti-affinity-exceeds-domains") if {
	some row in input.anti_affinity
	row.outcome == "never"
}
