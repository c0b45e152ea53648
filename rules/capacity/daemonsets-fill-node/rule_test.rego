package schedlint.rules["capacity.daemonsets-fill-node_test"]

import data.schedlint.rules["capacity.daemonsets-fill-node"] as subject

small := {"id": 5, "name": "small", "daemonsets": [
	{"id": 6, "resource": "cpu", "node": "small-0", "allocatable": 2000, "requested_min": 701},
	{"id": 7, "resource": "memory", "node": "small-1", "allocatable": 4000, "requested_min": 1000},
]}

# reported gives the findings about one pool, with other parameters.
reported(pool, params) := findings if {
	defaults := {"params": {"max_percent": 30, "resources": ["cpu", "memory"]}}
	findings := {r.given | some r in subject.report} with input as object.union({"pools": [pool]}, object.union(defaults, params))
}

found := {"reason": "daemonsets-fill-node", "values": {"pool": "small", "resource": "cpu", "node": "small-0", "limit": 30, "percent": 36}}

test_reports if reported(small, {}) == {found}

test_no_room_at_all if {
	without := {"reason": "daemonsets-without-room", "values": {"pool": "small", "resource": "cpu", "node": "small-0", "limit": 30}}
	reported({"id": 5, "name": "small", "daemonsets": [{"id": 6, "resource": "cpu", "node": "small-0", "allocatable": 0, "requested_min": 1}]}, {}) == {without}
}

test_nothing_requested_of_nothing if {
	reported({"id": 5, "name": "small", "daemonsets": [{"id": 6, "resource": "cpu", "node": "small-0", "allocatable": 0, "requested_min": 0}]}, {}) == set()
}

test_passes_at_the_limit if {
	reported({"id": 5, "name": "small", "daemonsets": [{"id": 6, "resource": "cpu", "node": "small-0", "allocatable": 2000, "requested_min": 600}]}, {}) == set()
}

test_other_limit if reported(small, {"params": {"max_percent": 36}}) == set()

test_other_resource if reported(small, {"params": {"resources": ["memory"]}}) == set()

test_unknown_is_silent if reported({"id": 5, "name": "small", "daemonsets": []}, {}) == set()
