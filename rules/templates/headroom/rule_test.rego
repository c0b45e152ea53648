package schedlint.rules.headroom_test

import data.schedlint.rules.headroom as subject

worker := {
	"id": 1,
	"scope": "pool",
	"name": "worker",
	"resource": "cpu",
	"percent_min": 80,
	"percent_max": 80,
	"losses": [
		{"key": "kubernetes.io/hostname", "value": "n1", "percent_min": 89, "percent_max": 90},
		{"key": "kubernetes.io/hostname", "value": "n2", "percent_min": 96, "percent_max": 97},
		{"key": "topology.kubernetes.io/zone", "value": "a", "percent_min": 120, "percent_max": 121},
	],
}

fixed := [{"name": "worker", "count": 3, "max": 3, "zones": ["a"]}]

growing := [{"name": "worker", "count": 3, "max": 4, "zones": ["a"]}]

reported(change, pools, params) := all if {
	defaults := {"params": {"percent": 90, "scope": "pool", "after": "node", "resources": ["cpu"], "report_unknown": false}}
	given := object.union(object.union({"capacity": [object.union(worker, change)]}, {"pools": pools}), object.union(defaults, params))
	all := subject.report with input as given
}

# messages gives what is said about the capacity after a change.
messages(change, pools, params) := {r.said.message | some r in reported(change, pools, params)}

test_reports_the_worst_node if messages({}, fixed, {}) == {"pool worker: pods request at least 96% of the cpu left without node n2"}

test_reports_a_zone if messages({}, fixed, {"params": {"after": "zone"}}) == {"pool worker: pods request at least 120% of the cpu left without zone a"}

test_reports_the_cluster if {
	cluster := {"scope": "cluster", "name": "", "percent_min": 90}
	messages(cluster, fixed, {"params": {"scope": "cluster", "after": "none"}}) == {"cluster: pods request at least 90% of the cpu"}
}

test_reports_at_most_a_thousand_percent if {
	messages({"percent_min": 9007199254740991}, fixed, {"params": {"after": "none"}}) == {"pool worker: pods request at least 1000% of the cpu"}
}

test_passes if {
	messages({}, fixed, {"params": {"after": "none"}}) == set()
	messages({}, fixed, {"params": {"percent": 97}}) == set()
}

test_other_scopes if messages({}, fixed, {"params": {"scope": "zone"}}) == set()

test_other_resources if messages({}, fixed, {"params": {"resources": ["memory"]}}) == set()

test_no_loss if messages({"percent_min": 100, "losses": []}, fixed, {}) == set()

test_unknown_is_silent if messages({"percent_max": 100}, fixed, {"params": {"after": "none"}}) == set()

test_unknown_is_a_note_by_parameter if {
	params := {"params": {"after": "none", "report_unknown": true}}
	messages({"percent_max": 100}, fixed, params) == {"pool worker: pods may request 90% or more of the cpu"}
	{r.said.level | some r in reported({"percent_max": 100}, fixed, params)} == {"note"}
	messages({}, fixed, params) == set()
	{r.said.help | some r in reported({"percent_min": 100, "percent_max": 100}, fixed, params)} == {"add a node, or lower the requests"}
}

test_pools_that_grow_are_unknown if {
	messages({}, growing, {}) == set()
	messages({}, growing, {"params": {"report_unknown": true}}) == {"pool worker: pods may request 90% or more of the cpu left without node n2"}
	messages({"scope": "cluster", "name": ""}, growing, {"params": {"scope": "cluster"}}) == set()
	messages({"scope": "zone", "name": "a"}, growing, {"params": {"scope": "zone"}}) == set()
	count(messages({"scope": "zone", "name": "b"}, growing, {"params": {"scope": "zone"}})) == 1
}
