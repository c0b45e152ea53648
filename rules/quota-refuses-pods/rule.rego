# METADATA
# title: A ResourceQuota rejects pods
# description: >-
#   The pods of a workload, or of all workloads of the namespace, need more than a ResourceQuota has, or a
#   container does not set a cpu or memory amount that the quota counts. The workload exists with fewer pods or
#   without pods; only events of its controller show the problem. Raise the quota, lower the pod count or the
#   requests, or set the amount.
# related_resources:
#   - https://kubernetes.io/docs/concepts/policy/resource-quotas/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["quota-refuses-pods"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "quota-refuses-pods") if {
	some row in input.refusals
	row.stage == "quota"
}
