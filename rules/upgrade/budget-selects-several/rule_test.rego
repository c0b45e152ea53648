package schedlint.rules["upgrade.budget-selects-several_test"]

import data.schedlint.rules["upgrade.budget-selects-several"] as subject

web := {"id": 1, "object": "PodDisruptionBudget shop/web", "problem": "none", "selector": "app=web", "selects": [0]}

# reported gives the findings about one budget, with further input.
reported(budget, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"budgets": [budget], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}, {"id": 8, "ref": "Deployment shop/api", "pods_min": 3}], "params": {}}, others)
}

found := {"reason": "budget-selects-several", "values": {"budget": "PodDisruptionBudget shop/web", "workloads": ["Deployment shop/web", "Deployment shop/api"]}}

test_reports_several if reported(object.union(web, {"id": 1, "selects": [0, 1]}), {}) == {found}

test_names_three if {
	workloads := [{"id": id, "ref": ref} | some id, ref in ["Job a", "Job b", "Job c", "Job d"]]
	said := object.union(found, {"values": {"workloads": ["Job a", "Job b", "Job c", "Job d"]}})
	reported(object.union(web, {"selects": [0, 1, 2, 3]}), {"workloads": workloads}) == {said}
}

test_passes if reported(web, {}) == set()

test_unknown_is_silent if reported(object.union(web, {"problem": "unknown", "selects": []}), {}) == set()
