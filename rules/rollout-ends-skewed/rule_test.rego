package schedlint.rules["rollout-ends-skewed_test"]

import data.schedlint.rules["rollout-ends-skewed"] as subject

# reported is what is said of a row with that outcome.
reported(outcome) := report if {
	report := subject.report with input as {"skews": [{"id": 1, "w": 0, "outcome": outcome}]}
}

test_reports if reported("sometimes") == {{"rule": "rollout-ends-skewed", "fact": 1, "reason": "rollout-ends-skewed"}}

test_passes if reported("always") == set()

test_never_is_silent if reported("never") == set()

test_unknown_is_silent if reported("unknown") == set()
