package schedlint.rules["volume-attached-twice_test"]

import data.schedlint.rules["volume-attached-twice"] as subject

# reported is what is reported of a row with that outcome.
reported(outcome) := report if {
	row := {"id": 1, "w": 0, "outcome": outcome, "cause": "apart", "claims": ["data"], "class": "gp3", "pods": 2, "others": []}
	report := subject.report with input as {"attachments": [row]}
}

test_reports if reported("never") == {{"rule": "volume-attached-twice", "fact": 1, "reason": "volume-attached-twice"}}

test_warns_if_pods_may_be_apart if {
	reported("sometimes") == {{"rule": "volume-attached-twice", "fact": 1, "given": {"reason": "volume-attached-twice", "level": "warning"}}}
}

test_passes if reported("always") == set()

test_unknown_is_silent if reported("unknown") == set()

test_of_a_rollout_that_never_completes if {
	row := {"id": 1, "w": 0, "outcome": "sometimes", "cause": "deadlock", "claims": ["data"], "class": "gp3", "pods": 1, "others": []}
	subject.report == set() with input as {"attachments": [row]}
}
