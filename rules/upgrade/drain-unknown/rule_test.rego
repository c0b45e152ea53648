package schedlint.rules["upgrade.drain-unknown_test"]

import data.schedlint.rules["upgrade.drain-unknown"] as subject

drain(outcome) := {"id": 1, "w": 0, "outcome": outcome}

# reported gives the findings about the drain of one workload, in a cluster of so many nodes.
reported(outcome, nodes) := findings if {
	workloads := [{"id": 2, "ref": "Deployment shop/web"}]
	findings := {r.given | some r in subject.report} with input as {"cluster": {"nodes": nodes}, "drains": [drain(outcome)], "workloads": workloads, "params": {}}
}

test_reports_unknown if reported("unknown", 2) == {{"reason": "drain-unknown", "values": {"workload": "Deployment shop/web"}}}

test_passes if reported("always", 2) == set()

test_known_faults_are_left_to_other_rules if {
	reported("never", 2) == set()
	reported("sometimes", 2) == set()
}

test_without_nodes if reported("unknown", 0) == set()
