package schedlint.rules["anti-affinity-exceeds-domains_test"]

import data.schedlint.rules["anti-affinity-exceeds-domains"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"pods": 7,
	"keys": ["kubernetes.io/hostname"],
	"domains": 6,
	"most": 6,
	"pending": 1,
	"nodes": 7,
	"eligible": 6,
	"excluded": [{"reason": "tainted", "key": "x", "value": "", "has": "", "effect": "NoSchedule", "operator": "", "values": [], "resource": "", "nodes": 1, "names": ["kni-control-plane"]}],
	"more_excluded": 0,
	"growth": [],
	"together": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"anti_affinity": [row]}
}

test_reports if {
	subject.report == {{"rule": "anti-affinity-exceeds-domains", "fact": 1, "reason": "anti-affinity-exceeds-domains"}} with input as {"anti_affinity": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_all_nodes_eligible if {
	fact := object.union(bad, {"pods": 8, "nodes": 6, "pending": 2, "excluded": [], "more_excluded": 0})
	reported(fact) == {"anti-affinity-exceeds-domains"}
}

test_growth_and_together if {
	fact := object.union(bad, {"nodes": 1, "eligible": 1, "domains": 1, "most": 1, "pods": 2, "excluded": [], "more_excluded": 0, "growth": [{"pool": "spot", "max": 1}], "together": [{"w": 0, "use": "affinity", "hard": true, "key": "topology.kubernetes.io/zone"}]})
	reported(fact) == {"anti-affinity-exceeds-domains"}
}

test_fewer_than_the_domains if {
	fact := object.union(bad, {"most": 5, "pending": 2, "excluded": [], "more_excluded": 0})
	reported(fact) == {"anti-affinity-exceeds-domains"}
}
