# METADATA
# title: Several autoscalers of one workload are inactive
# description: >-
#   Two HorizontalPodAutoscalers of one workload are both inactive (AmbiguousSelector), so the declared
#   number of pods stays. KEDA makes a HorizontalPodAutoscaler of each ScaledObject, which counts like any
#   other. Delete all but one of the autoscalers, or let each of them scale another workload.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["autoscalers-inactive"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "autoscalers-inactive") if {
	some row in input.autoscalers
	row.outcome == "none"
	count(row.rivals) > 0
}
