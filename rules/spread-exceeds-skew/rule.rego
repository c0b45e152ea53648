# METADATA
# title: A hard topologySpreadConstraint leaves pods Pending
# description: >-
#   A pod is scheduled only where its domain then has at most maxSkew more pods than the emptiest eligible
#   domain. A domain that counts but cannot take pods, such as a tainted node with nodeTaintsPolicy: Ignore,
#   limits all others; so do too few domains for minDomains, and a topology key that no node has. Set
#   nodeTaintsPolicy: Honor, raise maxSkew, run fewer replicas, or use ScheduleAnyway.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["spread-exceeds-skew"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "spread-exceeds-skew") if {
	some row in input.spreads
	row.outcome == "never"
}
