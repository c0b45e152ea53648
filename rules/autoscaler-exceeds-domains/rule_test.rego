package schedlint.rules["autoscaler-exceeds-domains_test"]

import data.schedlint.rules["autoscaler-exceeds-domains"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"min": 2,
	"max": 10,
	"fit": 3,
	"pending": 7,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"autoscalers": [row]}
}

test_reports if {
	subject.report == {{"rule": "autoscaler-exceeds-domains", "fact": 1, "reason": "autoscaler-exceeds-domains"}} with input as {"autoscalers": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_none_is_silent if reported(object.union(bad, {"outcome": "none"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()
