package schedlint.rules["multi-tenant.tolerates-every-taint_test"]

import data.schedlint.rules["multi-tenant.tolerates-every-taint"] as subject

web := {
	"id": 1, "ref": "Deployment shop/web", "namespace": "shop", "per_node": false,
	"tolerations": [{"id": 2, "key": "", "operator": "Exists", "effect": ""}],
}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"agent_namespaces": ["kube-*"]}}
}

# tolerating is the workload with another toleration.
tolerating(key, operator, effect) := object.union(web, {"tolerations": [{"id": 2, "key": key, "operator": operator, "effect": effect}]})

found := {"reason": "tolerates-every-taint", "values": {"workload": "Deployment shop/web", "effect": ""}}

test_reports if reported(web) == {found}

test_one_effect if {
	reported(tolerating("", "Exists", "NoSchedule")) == {object.union(found, {"values": {"effect": "NoSchedule"}})}
}

test_passes if reported(tolerating("tenant", "Exists", "")) == set()

test_evictions_only if reported(tolerating("", "Exists", "NoExecute")) == set()

test_rejected if reported(tolerating("", "Equal", "")) == set()

test_agent if reported(object.union(web, {"per_node": true, "namespace": "kube-system"})) == set()

test_agent_of_open_namespace if reported(object.union(web, {"per_node": true, "namespace": ""})) == set()

test_agent_elsewhere if count(reported(object.union(web, {"per_node": true}))) == 1

test_no_agent if count(reported(object.union(web, {"namespace": "kube-system"}))) == 1

test_unknown_is_silent if reported(tolerating("${KEY}", "Exists", "")) == set()
