package schedlint.rules["only-in-pool_test"]

import data.schedlint.rules["only-in-pool"] as subject

web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"namespace": "shop",
	"per_node": false,
	"pools": ["shop-1"],
}

# messages gives what is said about web after a change.
messages(change, params) := said if {
	defaults := {"params": {"pools": ["shop-*"], "namespaces": ["shop"], "exclusive": true, "per_node": false}}
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	said := {r.said.message | some r in subject.report} with input as object.union({"nodes": nodes}, given)
}

nodes := []

test_reports if messages({"pools": ["common", "shop-1"]}, {}) == {"Deployment shop/web has to run in pool shop-* but can use common"}

test_reports_nodes_without_a_pool if {
	said := messages({}, {}) with data.schedlint.rules["only-in-pool_test"].nodes as [{"pool": "", "workloads": [0]}]
	said == {"Deployment shop/web has to run in pool shop-* but can use nodes without a pool"}
}

test_nodes_of_others if {
	messages({}, {}) == set() with data.schedlint.rules["only-in-pool_test"].nodes as [{"pool": "", "workloads": [1]}, {"pool": "shop-1", "workloads": [0]}]
}

test_reports_others if {
	messages({"namespace": "cart"}, {}) == {"Deployment shop/web can use pool shop-1, which is set aside for namespace shop"}
}

test_passes if messages({}, {}) == set()

test_others_elsewhere_pass if messages({"namespace": "cart", "pools": ["common"]}, {}) == set()

test_others_by_parameter if messages({"namespace": "cart"}, {"params": {"exclusive": false}}) == set()

test_all_belong_there if messages({"namespace": "cart"}, {"params": {"namespaces": []}}) == set()

test_daemon_sets_by_parameter if {
	daemon := {"per_node": true, "pools": ["common"]}
	messages(daemon, {}) == set()
	count(messages(daemon, {"params": {"per_node": true}})) == 1
	messages(object.union(daemon, {"namespace": "cart", "pools": ["shop-1"]}), {}) == set()
	count(messages(object.union(daemon, {"namespace": "cart", "pools": ["shop-1"]}), {"params": {"per_node": true}})) == 1
}

test_unknown_namespace_is_silent if {
	messages({"namespace": ""}, {}) == set()
	messages({"namespace": "${NAMESPACE}"}, {}) == set()
}

test_unknown_placement_is_silent if messages({"pools": []}, {}) == set()
