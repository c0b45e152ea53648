package schedlint.rules["forbid-toleration_test"]

import data.schedlint.rules["forbid-toleration"] as subject

all := {"tolerations": [{"id": 2, "key": "", "operator": "Exists", "effect": "", "tolerates_all": true}]}

one := {"tolerations": [{"id": 2, "key": "dedicated", "operator": "Exists", "effect": "NoSchedule", "tolerates_all": false}]}

open := {"tolerations": [{"id": 2, "key": "${TAINT}", "operator": "Exists", "effect": "", "tolerates_all": false}]}

# findings are those about tolerations.
findings(tolerations, params) := said if {
	defaults := {"params": {"keys": [], "everything": true}}
	workload := object.union({"id": 1, "ref": "Deployment shop/web"}, tolerations)
	given := object.union({"workloads": [workload]}, object.union(defaults, params))
	said := {r.given | some r in subject.report; r.fact == 2} with input as given
}

found := {"reason": "tolerates-all-taints", "values": {"workload": "Deployment shop/web"}}

test_reports if findings(all, {}) == {found}

test_reports_a_key if findings(one, {"params": {"keys": ["ded*"]}}) == {{"reason": "tolerates-forbidden-taint", "values": {"workload": "Deployment shop/web", "key": "dedicated"}}}

test_passes if findings(one, {"params": {"keys": ["spot"]}}) == set()

test_every_taint_by_parameter if findings(all, {"params": {"everything": false}}) == set()

test_every_taint_has_no_key if findings(all, {"params": {"keys": ["*"], "everything": false}}) == set()

test_unknown_is_silent if findings(open, {"params": {"keys": ["dedicated"]}}) == set()
