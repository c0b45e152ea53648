# METADATA
# title: A rollout that never completes, or not always
# description: >-
#   An update of the pods gets stuck, always or in some runs: new pods find no node while the old ones wait
#   for them. A rollout that is stuck leaves the workload with fewer pods, or with two versions, until
#   somebody intervenes. Set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its
#   replacement is created, or add a node.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [ha]
#   params:
#     type: object
#     properties:
#       min_pods:
#         description: number of pods from which a workload counts
#         type: integer
#         minimum: 1
#         default: 1
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["ha.rollout-gets-stuck"]

import data.schedlint.outcome
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), workload, said) if {
	some workload in input.workloads
	workload.pods_min >= input.params.min_pods
	messages := {
		"never": sprintf("%s: a rollout of its pods (%d) never completes", [workload.ref, workload.pods_min]),
		"sometimes": sprintf("%s: a rollout of its pods (%d) can get stuck", [workload.ref, workload.pods_min]),
		"unknown": sprintf("%s: unknown whether a rollout of its pods completes", [workload.ref]),
	}
	help := "set maxUnavailable: 1 and maxSurge: 0, or add a node"
	said := outcome.said(workload.answers.rolls, input.params.report_unknown, messages, help)
}
