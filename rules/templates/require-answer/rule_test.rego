package schedlint.rules["require-answer_test"]

import data.schedlint.rules["require-answer"] as subject

zone := "topology.kubernetes.io/zone"

# web is healthy, as far as anybody asks.
web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"permanent": true,
	"per_node": false,
	"pods_min": 3,
	"pods_max": 3,
	"on_one_node_min": 1,
	"on_one_node_max": 1,
	"in_one_zone_min": 1,
	"in_one_zone_max": 2,
	"answers": {
		"fits": "always",
		"rolls": "always",
		"drains": "always",
		"migrates": "none",
		"autoscales": "none",
		"survives": [{"key": "topology.kubernetes.io/zone", "gone": "always", "unreachable": "always"}],
	},
}

defaults := {"params": {"answer": "survives", "key": "zone", "meaning": "both", "unreachable": false, "report_unknown": false}}

reported(change, params) := all if {
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	all := subject.report with input as given
}

# findings are those about web after a change.
findings(change, params) := {r.given | some r in reported(change, params)}

found := {"reason": "require-answer", "values": {"outcome": "sometimes", "workload": "Deployment shop/web", "pods": 3, "claim": "rolls", "lost": "zone"}}

test_reports_sometimes if {
	findings({"answers": {"rolls": "sometimes"}}, {"params": {"answer": "rolls"}}) == {found}
}

test_reports_never if {
	findings({"answers": {"drains": "never"}}, {"params": {"answer": "drains"}}) == {object.union(found, {"values": {"outcome": "never", "claim": "drains"}})}
}

test_names_no_number_of_an_autoscaler if {
	findings({"pods_max": 4, "answers": {"rolls": "sometimes"}}, {"params": {"answer": "rolls"}}) == {object.union(found, {"values": {"pods": 0}})}
}

test_reports_every_answer if {
	answers := {"answers": {"fits": "never", "rolls": "never", "drains": "never", "migrates": "never", "autoscales": "never"}}
	every answer in ["fits", "rolls", "drains", "migrates", "autoscales"] {
		count(findings(answers, {"params": {"answer": answer}})) == 1
	}
}

test_passes if {
	every answer in ["fits", "rolls", "drains", "migrates", "autoscales", "survives"] {
		findings({}, {"params": {"answer": answer}}) == set()
	}
}

test_other_answers_do_not_count if findings({"answers": {"fits": "never"}}, {"params": {"answer": "rolls"}}) == set()

# idle never fits, so it neither rolls nor drains.
idle := {"answers": {"fits": "never", "rolls": "none", "drains": "none"}}

test_none_of_pods_that_never_fit if {
	every answer in ["rolls", "drains"] {
		params := {"params": {"answer": answer}}
		findings(idle, params) == {object.union(found, {"values": {"outcome": "never", "claim": answer}})}
		findings(object.union(idle, {"per_node": true}), params) == set()
		findings(object.union(idle, {"answers": {"fits": "sometimes"}}), params) == set()
	}
	findings(idle, {"params": {"answer": "migrates"}}) == set()
}

test_unknown_is_silent if findings({"answers": {"rolls": "unknown"}}, {"params": {"answer": "rolls"}}) == set()

test_unknown_is_a_note_by_parameter if {
	params := {"params": {"answer": "rolls", "report_unknown": true}}
	findings({"answers": {"rolls": "unknown"}}, params) == {object.union(found, {"values": {"outcome": "unknown"}, "level": "note"})}
	{r.given.level | some r in reported({"answers": {"rolls": "unknown"}}, params)} == {"note"}
}

# lost is the answer that pods do not run again after a loss.
lost := {"answers": {"survives": [{"key": zone, "gone": "never", "unreachable": "always"}]}}

test_loss if findings(lost, {}) == {object.union(found, {"values": {"outcome": "never", "claim": "afterwards"}})}

test_loss_of_another_kind if {
	findings({"answers": {"survives": [{"key": "kubernetes.io/hostname", "gone": "never", "unreachable": "never"}]}}, {}) == set()
}

test_loss_of_another_question if findings(lost, {"params": {"answer": "fits"}}) == set()

test_loss_of_another_meaning if findings(lost, {"params": {"meaning": "meanwhile"}}) == set()

test_loss_of_finite_pods if findings(object.union(lost, {"permanent": false}), {}) == set()

test_unreachable_by_parameter if {
	unreachable := {"answers": {"survives": [{"key": zone, "gone": "always", "unreachable": "sometimes"}]}}
	findings(unreachable, {}) == set()
	count(findings(unreachable, {"params": {"unreachable": true}})) == 1
}

# together is all pods in one zone and on one node.
together := {"on_one_node_max": 3, "in_one_zone_max": 3}

test_meanwhile if {
	findings(together, {}) == {object.union(found, {"values": {"claim": "meanwhile"}})}
}

test_meanwhile_node if {
	findings({"on_one_node_max": 3}, {"params": {"key": "node"}}) == {object.union(found, {"values": {"claim": "meanwhile", "lost": "node"}})}
}

test_meanwhile_other_key if findings(together, {"params": {"key": "region"}}) == set()

test_meanwhile_of_another_meaning if findings(together, {"params": {"meaning": "afterwards"}}) == set()

test_meanwhile_of_finite_pods if findings(object.union(together, {"permanent": false}), {}) == set()

test_meanwhile_of_another_question if findings(together, {"params": {"answer": "fits"}}) == set()

test_meanwhile_unknown if {
	change := {"in_one_zone_min": 0, "in_one_zone_max": 3}
	findings(change, {}) == set()
	findings(change, {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown", "claim": "meanwhile"}, "level": "note"})}
}
