package schedlint.rules["ha.budget-allows-all_test"]

import data.schedlint.rules["ha.budget-allows-all"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "pods_min": 3, "budgets": []}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"min_pods": 2}}, others)
}

found := {"reason": "budget-allows-all", "values": {"budget": "PodDisruptionBudget shop/web", "pods": 3, "workload": "Deployment shop/web", "field": "", "value": "", "scaled": false}}

test_reports_without_amount if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 3, "allowed_max": 3, "amount": {"field": "", "value": "", "of": 3}}]}), {}) == {found}

test_none_is_left_to_another_rule if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 0, "allowed_max": 0, "amount": {"field": "minAvailable", "value": "3", "of": 0}}]}), {}) == set()

test_reports_all if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 3, "allowed_max": 3, "amount": {"field": "maxUnavailable", "value": "100%", "of": 3}}]}), {}) == {object.union(found, {"values": {"field": "maxUnavailable", "value": "100%"}})}

test_passes if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 1, "allowed_max": 1, "amount": {"field": "minAvailable", "value": "3", "of": 3}}]}), {}) == set()

test_few_pods if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 3, "allowed_max": 3, "amount": {"field": "maxUnavailable", "value": "3", "of": 3}}]}), {"params": {"min_pods": 4}}) == set()

test_no_budget if reported(web, {}) == set()

test_unknown_is_silent if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 0, "allowed_max": 2147483647, "amount": {"field": "", "value": "", "of": 0}}]}), {}) == set()

test_uncertain_numbers_are_silent if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 2, "allowed_max": 3, "amount": {"field": "minAvailable", "value": "1", "of": 0}}]}), {}) == set()

test_smallest_size if reported(object.union(web, {"id": 1, "scalers": [{"id": 3}], "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_min": 3, "allowed_max": 3, "amount": {"field": "maxUnavailable", "value": "3", "of": 3}}]}), {}) == {object.union(found, {"values": {"field": "maxUnavailable", "value": "3", "scaled": true}})}
