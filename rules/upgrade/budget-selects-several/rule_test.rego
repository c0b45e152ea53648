package schedlint.rules["upgrade.budget-selects-several_test"]

import data.schedlint.rules["upgrade.budget-selects-several"] as subject

web := {"id": 1, "object": "PodDisruptionBudget shop/web", "problem": "none", "selector": "app=web", "selects": [0]}

# reported gives the messages about one budget, with further input.
reported(budget, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"budgets": [budget], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}, {"id": 8, "ref": "Deployment shop/api", "pods_min": 3}], "params": {}}, others)
}

test_reports_several if reported(object.union(web, {"id": 1, "selects": [0, 1]}), {}) == {"PodDisruptionBudget shop/web selects the pods of 2 workloads: Deployment shop/web, Deployment shop/api"}

test_names_three if {
	workloads := [{"id": id, "ref": ref} | some id, ref in ["Job a", "Job b", "Job c", "Job d"]]
	said := "PodDisruptionBudget shop/web selects the pods of 4 workloads: Job a, Job b, Job c and 1 more"
	reported(object.union(web, {"selects": [0, 1, 2, 3]}), {"workloads": workloads}) == {said}
}

test_passes if reported(web, {}) == set()

test_unknown_is_silent if reported(object.union(web, {"problem": "unknown", "selects": []}), {}) == set()
