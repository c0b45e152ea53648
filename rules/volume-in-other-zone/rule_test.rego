package schedlint.rules["volume-in-other-zone_test"]

import data.schedlint.rules["volume-in-other-zone"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"volumes": [{"reason": "other-volume", "claim": "data", "volume": "PersistentVolume pv"}],
	"most": 0,
	"pods": 1,
}

# levels gives the levels of what is reported of one row.
levels(row) := all if {
	all := {object.get(d.given, "level", "") | some d in subject.report} with input as {"eligibility": [row]}
}

test_reports if {
	subject.report == {{"rule": "volume-in-other-zone", "fact": 1, "given": {"reason": "volume-in-other-zone"}}} with input as {"eligibility": [bad]}
}

test_sometimes_is_a_warning if levels(object.union(bad, {"outcome": "sometimes"})) == {"warning"}

test_passes if levels(object.union(bad, {"outcome": "always"})) == set()

test_sometimes_without_volumes if levels(object.union(bad, {"outcome": "sometimes", "volumes": []})) == set()

test_no_volumes if levels(object.union(bad, {"volumes": []})) == set()
