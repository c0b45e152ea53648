package schedlint.rules["host-port-exceeds-nodes_test"]

import data.schedlint.rules["host-port-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"pods": 3,
	"port": 8080,
	"protocol": "TCP",
	"nodes": 3,
	"eligible": 2,
	"pending": 1,
	"excluded": [{"reason": "tainted", "key": "x", "value": "", "has": "", "effect": "NoSchedule", "operator": "", "values": [], "resource": "", "nodes": 1, "names": ["kni-control-plane"]}],
	"more_excluded": 0,
	"growth": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"host_ports": [row]}
}

test_reports if {
	subject.report == {{"rule": "host-port-exceeds-nodes", "fact": 1, "reason": "host-port-exceeds-nodes"}} with input as {"host_ports": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"pods": 4, "pending": 2, "excluded": [], "more_excluded": 0, "growth": [{"pool": "spot", "max": 2}]})
	reported(fact) == {"host-port-exceeds-nodes"}
}
