package schedlint.rules["spread-exceeds-skew_test"]

import data.schedlint.rules["spread-exceeds-skew"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"cause": "skew",
	"pods": 4,
	"key": "kubernetes.io/hostname",
	"keys": ["kubernetes.io/hostname"],
	"key_count": 1,
	"max_skew": 1,
	"min_domains": 1,
	"domains": 4,
	"smallest": 0,
	"smallest_domain": "kni-control-plane",
	"most": 3,
	"pending": 1,
	"nodes": 4,
	"eligible": 3,
	"excluded": [{"reason": "tainted", "key": "x", "value": "", "has": "", "effect": "NoSchedule", "operator": "", "values": [], "resource": "", "nodes": 1, "names": ["kni-control-plane"]}],
	"more_excluded": 0,
	"growth": [],
	"suggestion": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"spreads": [row]}
}

test_reports if {
	subject.report == {{"rule": "spread-exceeds-skew", "fact": 1, "reason": "spread-exceeds-skew"}} with input as {"spreads": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_too_few_domains if {
	fact := object.union(bad, {"cause": "min-domains", "key": "topology.kubernetes.io/zone", "min_domains": 3, "domains": 2, "max_skew": 2, "pods": 6, "most": 4, "pending": 2, "excluded": [], "more_excluded": 0})
	reported(fact) == {"spread-exceeds-skew"}
}

test_no_node_with_all_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "kubernetes.io/hostnam", "keys": ["kubernetes.io/hostnam"], "key_count": 1, "pods": 4, "pending": 4, "excluded": [], "more_excluded": 0, "suggestion": "kubernetes.io/hostname"})
	reported(fact) == {"spread-exceeds-skew"}
}

test_no_node_with_all_of_several_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "rack", "keys": ["kubernetes.io/hostname", "rack"], "key_count": 2, "pods": 4, "pending": 4, "excluded": [], "more_excluded": 0})
	reported(fact) == {"spread-exceeds-skew"}
}
