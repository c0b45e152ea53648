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

# findings are those about the capacity after a change.
findings(change, pools, params) := {r.given | some r in reported(change, pools, params)}

found := {"reason": "headroom", "values": {"outcome": "never", "scope": "pool", "name": "worker", "resource": "cpu", "after": "node", "domain": "n2", "percent": 96, "limit": 90}}

test_reports_the_worst_node if findings({}, fixed, {}) == {found}

test_reports_a_zone if findings({}, fixed, {"params": {"after": "zone"}}) == {object.union(found, {"values": {"after": "zone", "domain": "a", "percent": 120}})}

test_reports_the_cluster if {
	cluster := {"scope": "cluster", "name": "", "percent_min": 90, "percent_max": 90}
	findings(cluster, fixed, {"params": {"scope": "cluster", "after": "none"}}) == {object.union(found, {"values": {"scope": "cluster", "name": "", "after": "none", "domain": "", "percent": 90}})}
}

test_reports_at_most_a_thousand_percent if {
	findings({"percent_min": 9007199254740991, "percent_max": 9007199254740991}, fixed, {"params": {"after": "none"}}) == {object.union(found, {"values": {"after": "none", "domain": "", "percent": 1000}})}
}

test_passes if {
	findings({}, fixed, {"params": {"after": "none"}}) == set()
	findings({}, fixed, {"params": {"percent": 97}}) == set()
}

test_other_scopes if findings({}, fixed, {"params": {"scope": "zone"}}) == set()

test_other_resources if findings({}, fixed, {"params": {"resources": ["memory"]}}) == set()

test_no_loss if findings({"percent_min": 100, "losses": []}, fixed, {}) == set()

test_unknown_is_silent if findings({"percent_max": 100}, fixed, {"params": {"after": "none"}}) == set()

test_unknown_is_a_note_by_parameter if {
	params := {"params": {"after": "none", "report_unknown": true}}
	findings({"percent_max": 100}, fixed, params) == {object.union(found, {"values": {"outcome": "unknown", "after": "none", "domain": "", "percent": 80}, "level": "note"})}
	{r.given.level | some r in reported({"percent_max": 100}, fixed, params)} == {"note"}
	findings({}, fixed, params) == set()
}

test_pools_that_grow_are_unknown if {
	findings({}, growing, {}) == set()
	findings({}, growing, {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown"}, "level": "note"})}
	findings({"scope": "cluster", "name": ""}, growing, {"params": {"scope": "cluster"}}) == set()
	findings({"scope": "zone", "name": "a"}, growing, {"params": {"scope": "zone"}}) == set()
	count(findings({"scope": "zone", "name": "b"}, growing, {"params": {"scope": "zone"}})) == 1
}
