# METADATA
# title: A rollout gets stuck, always or in some runs
# description: >-
#   Upgrades change pod templates, as they bring new images and new API versions, and the rollout that
#   follows gets stuck: new pods find no node while the old ones wait for them. Set maxUnavailable: 1 and
#   maxSurge: 0 so an old pod is removed before its replacement is created, or add a node.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [upgrade]
#   params:
#     type: object
#     properties:
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["upgrade.rollout-gets-stuck"]

import data.schedlint.outcome
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), row, said) if {
	some row in input.rollouts
	ref := input.workloads[row.w].ref
	numbers := sprintf("replicas %d, surge %d, unavailable %d", [row.replicas, row.surge, row.unavailable])
	messages := {
		"never": sprintf("%s: a rollout never completes (%s)", [ref, numbers]),
		"sometimes": sprintf("%s: a rollout can get stuck (%s)", [ref, numbers]),
		"unknown": sprintf("%s: unknown whether a rollout completes", [ref]),
	}
	help := "set maxUnavailable: 1 and maxSurge: 0, or add a node"
	said := outcome.said(row.outcome, input.params.report_unknown, messages, help)
}
