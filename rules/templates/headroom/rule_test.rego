package schedlint.rules.headroom_test

import data.schedlint.rules.headroom as subject

worker := {
	"id": 1,
	"scope": "pool",
	"name": "worker",
	"resource": "cpu",
	"allocatable": 6000,
	"allocatable_max": 6000,
	"percent_min": 80,
	"percent_max": 80,
	"percent_grown_min": 80,
	"percent_grown_max": 80,
	"losses": [
		{"key": "kubernetes.io/hostname", "value": "n2", "left": 4000, "left_max": 4000, "percent_min": 96, "percent_max": 97, "percent_grown_min": 96, "percent_grown_max": 97},
		{"key": "kubernetes.io/hostname", "value": "n1", "left": 4000, "left_max": 4000, "percent_min": 89, "percent_max": 90, "percent_grown_min": 89, "percent_grown_max": 90},
		{"key": "topology.kubernetes.io/zone", "value": "a", "left": 4000, "left_max": 4000, "percent_min": 120, "percent_max": 121, "percent_grown_min": 120, "percent_grown_max": 121},
	],
}

reported(change, params) := all if {
	defaults := {"params": {"percent": 90, "scope": "pool", "after": "node", "resources": ["cpu"], "report_unknown": false}}
	all := subject.report with input as object.union({"capacity": [object.union(worker, change)]}, object.union(defaults, params))
}

# findings are those about the capacity after a change.
findings(change, params) := {r.given | some r in reported(change, params)}

found := {"reason": "headroom", "values": {"outcome": "never", "scope": "pool", "name": "worker", "resource": "cpu", "after": "node", "domain": "n2", "percent": 96, "limit": 90, "grown": false}}

test_reports_the_worst_node if findings({}, {}) == {found}

test_reports_a_zone if findings({}, {"params": {"after": "zone"}}) == {object.union(found, {"values": {"after": "zone", "domain": "a", "percent": 120}})}

test_reports_the_cluster if {
	cluster := {"scope": "cluster", "name": "", "percent_min": 90, "percent_max": 90, "percent_grown_min": 90, "percent_grown_max": 90}
	findings(cluster, {"params": {"scope": "cluster", "after": "none"}}) == {object.union(found, {"values": {"scope": "cluster", "name": "", "after": "none", "domain": "", "percent": 90}})}
}

test_reports_at_most_a_thousand_percent if {
	huge := {"percent_min": 9007199254740991, "percent_max": 9007199254740991, "percent_grown_min": 9007199254740991, "percent_grown_max": 9007199254740991}
	findings(huge, {"params": {"after": "none"}}) == {object.union(found, {"values": {"after": "none", "domain": "", "percent": 1000}})}
}

test_passes if {
	findings({}, {"params": {"after": "none"}}) == set()
	findings({}, {"params": {"percent": 97}}) == set()
}

test_other_scopes if findings({}, {"params": {"scope": "zone"}}) == set()

test_other_resources if findings({}, {"params": {"resources": ["memory"]}}) == set()

test_no_loss if findings({"percent_min": 100, "percent_max": 100, "percent_grown_min": 100, "percent_grown_max": 100, "losses": []}, {}) == set()

test_unknown_is_silent if findings({"percent_max": 100}, {"params": {"after": "none"}}) == set()

test_unknown_is_a_note_by_parameter if {
	params := {"params": {"after": "none", "report_unknown": true}}
	findings({"percent_max": 100}, params) == {object.union(found, {"values": {"outcome": "unknown", "after": "none", "domain": "", "percent": 80}, "level": "note"})}
	findings({"percent_grown_max": 100}, params) == {object.union(found, {"values": {"outcome": "unknown", "after": "none", "domain": "", "percent": 80}, "level": "note"})}
	{r.given.level | some r in reported({"percent_max": 100}, params)} == {"note"}
	findings({}, params) == set()
}

# grows is the row of a pool that can double.
grows(percent) := {
	"allocatable_max": 12000,
	"percent_grown_min": percent,
	"percent_grown_max": percent,
	"losses": [{"key": "kubernetes.io/hostname", "value": "n1", "left": 4000, "left_max": 10000, "percent_min": 150, "percent_max": 150, "percent_grown_min": percent, "percent_grown_max": percent}],
}

test_pools_that_grow if {
	findings(grows(89), {}) == set()
	findings(grows(89), {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown", "domain": "n1", "percent": 89, "grown": true}, "level": "note"})}
	findings(grows(137), {}) == {object.union(found, {"values": {"domain": "n1", "percent": 137, "grown": true}})}
}

test_full_pools_that_grow_fuller if {
	full := object.union(grows(137), {"percent_min": 110, "percent_max": 110})
	findings(full, {"params": {"after": "none"}}) == {object.union(found, {"values": {"after": "none", "domain": "", "percent": 110, "grown": true}})}
	findings(grows(137), {"params": {"after": "none"}}) == set()
}
