# METADATA
# title: An autoscaler can request more pods than fit, always or in some runs
# description: >-
#   At the maximum of the autoscaler some pods stay Pending, always or depending on where the scheduler
#   places the others, so the workload has less capacity under load than its owners expect. Pools count at
#   their maximum size. Add nodes, raise the maximum of a pool, or lower the maximum of the autoscaler.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [capacity]
#   params:
#     type: object
#     properties:
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["capacity.autoscaler-exceeds-nodes"]

import data.schedlint.outcome
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), row, said) if {
	some row in input.autoscalers
	workload := input.workloads[row.w]
	messages := {
		"never": sprintf("%s: %s can scale to %d pods, and only %d fit", [workload.ref, row.object, row.max, row.fit]),
		"sometimes": sprintf("%s: %s can scale to %d pods, which do not always fit", [workload.ref, row.object, row.max]),
		"unknown": sprintf("%s: unknown whether the %d pods to which %s can scale fit", [workload.ref, row.max, row.object]),
	}
	help := "add nodes, or lower the maximum of the autoscaler"
	said := outcome.said(row.outcome, input.params.report_unknown, messages, help)
}
