package schedlint.rules["forbid-toleration_test"]

import data.schedlint.rules["forbid-toleration"] as subject

all := {"tolerations": [{"id": 2, "key": "", "operator": "Exists", "effect": "", "tolerates_all": true}]}

one := {"tolerations": [{"id": 2, "key": "dedicated", "operator": "Exists", "effect": "NoSchedule", "tolerates_all": false}]}

open := {"tolerations": [{"id": 2, "key": "${TAINT}", "operator": "Exists", "effect": "", "tolerates_all": false}]}

# findings are those about tolerations.
findings(tolerations, params) := said if {
	defaults := {"params": {"keys": [], "everything": true}}
	workload := object.union({"id": 1, "ref": "Deployment shop/web"}, tolerations)
	given := object.union_n([{"workloads": [workload]}, {"pools": []}, defaults, params])
	said := {r.given | some r in subject.report; r.fact == 2} with input as given
}

found := {"reason": "tolerates-all-taints", "values": {"workload": "Deployment shop/web"}}

test_reports if findings(all, {}) == {found}

test_reports_a_key if findings(one, {"params": {"keys": ["ded*"]}}) == {{"reason": "tolerates-forbidden-taint", "values": {"workload": "Deployment shop/web", "key": "dedicated"}}}

test_passes if findings(one, {"params": {"keys": ["spot"]}}) == set()

test_every_taint_by_parameter if findings(all, {"params": {"everything": false}}) == set()

every_key := {"reason": "tolerates-every-key", "values": {"workload": "Deployment shop/web", "effect": "", "keys": ["spot"]}}

test_every_taint_has_every_key if {
	findings(all, {"params": {"keys": ["spot"], "everything": false}}) == {every_key}
	findings(all, {"params": {"keys": ["*"], "everything": false}}) == {object.union(every_key, {"values": {"keys": ["*"]}})}
	findings(all, {"params": {"keys": ["spot"]}}) == {found}
}

of_one_effect(effect) := {"tolerations": [{"id": 2, "key": "", "operator": "Exists", "effect": effect, "tolerates_all": false}]}

test_every_key_of_one_effect if {
	findings(of_one_effect("NoSchedule"), {"params": {"keys": ["spot"]}}) == {object.union(every_key, {"values": {"effect": "NoSchedule"}})}
	findings(of_one_effect("PreferNoSchedule"), {"params": {"keys": ["spot"]}}) == set()
	findings(of_one_effect("NoSchedule"), {}) == set()
}

# of_pool are the findings about a toleration of every NoExecute taint where one pool has some taints.
of_pool(pools) := findings(of_one_effect("NoExecute"), object.union(pools, {"params": {"keys": ["spo*"]}}))

test_every_no_execute_key_of_a_pool if {
	of_pool({"pools": [{"taints": [{"key": "spot", "effect": "NoExecute"}]}]}) == {object.union(every_key, {"values": {"effect": "NoExecute"}})}
	of_pool({"pools": [{"taints": [{"key": "spot", "effect": "NoSchedule"}]}]}) == set()
	of_pool({"pools": [{"taints": [{"key": "other", "effect": "NoExecute"}]}]}) == set()
}

test_no_operator_is_no_every_key if {
	findings({"tolerations": [{"id": 2, "key": "", "operator": "Equal", "effect": "", "tolerates_all": false}]}, {"params": {"keys": ["spot"]}}) == set()
}

test_unknown_is_silent if findings(open, {"params": {"keys": ["dedicated"]}}) == set()
