package schedlint.rules["forbid-toleration_test"]

import data.schedlint.rules["forbid-toleration"] as subject

all := {"tolerations": [{"id": 2, "key": "", "operator": "Exists", "effect": "", "tolerates_all": true}]}

one := {"tolerations": [{"id": 2, "key": "dedicated", "operator": "Exists", "effect": "NoSchedule", "tolerates_all": false}]}

open := {"tolerations": [{"id": 2, "key": "${TAINT}", "operator": "Exists", "effect": "", "tolerates_all": false}]}

# messages gives what is said about tolerations.
messages(tolerations, params) := said if {
	defaults := {"params": {"keys": [], "everything": true}}
	workload := object.union({"id": 1, "ref": "Deployment shop/web"}, tolerations)
	given := object.union({"workloads": [workload]}, object.union(defaults, params))
	said := {r.said.message | some r in subject.report; r.fact == 2} with input as given
}

test_reports if messages(all, {}) == {"Deployment shop/web tolerates every taint"}

test_reports_a_key if messages(one, {"params": {"keys": ["ded*"]}}) == {"Deployment shop/web tolerates the taint dedicated"}

test_passes if messages(one, {"params": {"keys": ["spot"]}}) == set()

test_every_taint_by_parameter if messages(all, {"params": {"everything": false}}) == set()

test_every_taint_has_no_key if messages(all, {"params": {"keys": ["*"], "everything": false}}) == set()

test_unknown_is_silent if messages(open, {"params": {"keys": ["dedicated"]}}) == set()
