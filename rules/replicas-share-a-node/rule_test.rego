package schedlint.rules["replicas-share-a-node_test"]

import data.schedlint.rules["replicas-share-a-node"] as subject

# reported is what is said of a row with that outcome.
reported(outcome) := report if {
	report := subject.report with input as {"sharing": [{"id": 1, "w": 0, "outcome": outcome}]}
}

test_reports if reported("sometimes") == {{"rule": "replicas-share-a-node", "fact": 1, "given": {"reason": "one-node-takes-all"}}}

test_passes if reported("always") == set()

test_never_is_silent if reported("never") == set()

test_unknown_is_silent if reported("unknown") == set()

# levels are the levels that are set for a row with these simulated runs.
levels(runs, shown, preempts) := {d.given.level | some d in report} if {
	row := {"id": 1, "w": 0, "outcome": "sometimes", "typical": {"runs": runs, "shown": shown, "preempts": preempts}}
	report := subject.report with input as {"sharing": [row]}
}

test_rare_is_a_note if levels(200, 9, 0) == {"note"}

test_not_so_rare if levels(200, 10, 0) == set()

test_preemption_leaves_it_open if levels(200, 5, 5) == set()

test_too_few_runs if levels(19, 0, 0) == set()
