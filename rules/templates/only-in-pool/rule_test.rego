package schedlint.rules["only-in-pool_test"]

import data.schedlint.rules["only-in-pool"] as subject

web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"namespace": "shop",
	"per_node": false,
	"pools": ["shop-1"],
}

# findings are those about web after a change.
findings(change, params) := said if {
	defaults := {"params": {"pools": ["shop-*"], "namespaces": ["shop"], "exclusive": true, "per_node": false}}
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	said := {r.given | some r in subject.report} with input as object.union({"nodes": nodes}, given)
}

nodes := []

found := {"reason": "outside-required-pool", "values": {"workload": "Deployment shop/web", "pools": ["shop-*"], "others": ["common"], "poolless": false}}

test_reports if findings({"pools": ["common", "shop-1"]}, {}) == {found}

test_reports_nodes_without_a_pool if {
	said := findings({}, {}) with data.schedlint.rules["only-in-pool_test"].nodes as [{"pool": "", "workloads": [0]}]
	said == {object.union(found, {"values": {"others": [], "poolless": true}})}
}

test_nodes_of_others if {
	findings({}, {}) == set() with data.schedlint.rules["only-in-pool_test"].nodes as [{"pool": "", "workloads": [1]}, {"pool": "shop-1", "workloads": [0]}]
}

test_reports_others if {
	findings({"namespace": "cart"}, {}) == {{"reason": "pool-set-aside", "values": {"workload": "Deployment shop/web", "pools": ["shop-1"], "namespaces": ["shop"]}}}
}

test_passes if findings({}, {}) == set()

test_others_elsewhere_pass if findings({"namespace": "cart", "pools": ["common"]}, {}) == set()

test_others_by_parameter if findings({"namespace": "cart"}, {"params": {"exclusive": false}}) == set()

test_all_belong_there if findings({"namespace": "cart"}, {"params": {"namespaces": []}}) == set()

test_daemon_sets_by_parameter if {
	daemon := {"per_node": true, "pools": ["common"]}
	findings(daemon, {}) == set()
	count(findings(daemon, {"params": {"per_node": true}})) == 1
	findings(object.union(daemon, {"namespace": "cart", "pools": ["shop-1"]}), {}) == set()
	count(findings(object.union(daemon, {"namespace": "cart", "pools": ["shop-1"]}), {"params": {"per_node": true}})) == 1
}

test_unknown_namespace_is_silent if {
	findings({"namespace": ""}, {}) == set()
	findings({"namespace": "${NAMESPACE}"}, {}) == set()
}

test_unknown_placement_is_silent if findings({"pools": []}, {}) == set()
