# METADATA
# title: A PodDisruptionBudget refuses to evict the only pod
# description: >-
#   A workload of one pod has a PodDisruptionBudget that requires this pod, so no drain of its node
#   completes until somebody deletes the pod or the budget. Run two pods; if a short downtime does no harm,
#   remove the budget or set maxUnavailable: 1.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.single-pod-with-budget"]

import data.schedlint.result

report contains result.finding(rego.metadata.chain(), budget, {"message": message, "help": help}) if {
	some workload in input.workloads
	workload.pods_min == 1
	some budget in workload.budgets
	budget.allowed_max == 0
	message := sprintf("%s never allows the eviction of the one pod of %s", [budget.ref, workload.ref])
	help := "run two pods, or set maxUnavailable: 1"
}
