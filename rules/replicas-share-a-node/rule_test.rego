package schedlint.rules["replicas-share-a-node_test"]

import data.schedlint.rules["replicas-share-a-node"] as subject

# reported is what is said of a row with that outcome.
reported(outcome) := report if {
	report := subject.report with input as {"sharing": [{"id": 1, "w": 0, "outcome": outcome}]}
}

test_reports if reported("sometimes") == {{"rule": "replicas-share-a-node", "fact": 1, "reason": "one-node-takes-all"}}

test_passes if reported("always") == set()

test_never_is_silent if reported("never") == set()

test_unknown_is_silent if reported("unknown") == set()
