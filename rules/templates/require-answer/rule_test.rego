package schedlint.rules["require-answer_test"]

import data.schedlint.rules["require-answer"] as subject

zone := "topology.kubernetes.io/zone"

# web is healthy, as far as anybody asks.
web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"permanent": true,
	"pods_min": 3,
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

# messages gives what is said about web after a change.
messages(change, params) := {r.said.message | some r in reported(change, params)}

test_reports_sometimes if {
	messages({"answers": {"rolls": "sometimes"}}, {"params": {"answer": "rolls"}}) == {"Deployment shop/web (pods: 3) cannot always complete a rollout"}
}

test_reports_never if {
	messages({"answers": {"drains": "never"}}, {"params": {"answer": "drains"}}) == {"Deployment shop/web (pods: 3) can never leave a drained node"}
}

test_reports_every_answer if {
	answers := {"answers": {"fits": "never", "rolls": "never", "drains": "never", "migrates": "never", "autoscales": "never"}}
	every answer in ["fits", "rolls", "drains", "migrates", "autoscales"] {
		count(messages(answers, {"params": {"answer": answer}})) == 1
	}
}

test_passes if {
	every answer in ["fits", "rolls", "drains", "migrates", "autoscales", "survives"] {
		messages({}, {"params": {"answer": answer}}) == set()
	}
}

test_other_answers_do_not_count if messages({"answers": {"fits": "never"}}, {"params": {"answer": "rolls"}}) == set()

test_unknown_is_silent if messages({"answers": {"rolls": "unknown"}}, {"params": {"answer": "rolls"}}) == set()

test_unknown_is_a_note_by_parameter if {
	params := {"params": {"answer": "rolls", "report_unknown": true}}
	messages({"answers": {"rolls": "unknown"}}, params) == {"Deployment shop/web may be unable to complete a rollout"}
	{r.said.level | some r in reported({"answers": {"rolls": "unknown"}}, params)} == {"note"}
}

# lost is the answer that pods do not run again after a loss.
lost := {"answers": {"survives": [{"key": zone, "gone": "never", "unreachable": "always"}]}}

test_loss if messages(lost, {}) == {"Deployment shop/web (pods: 3) can never run all pods again after it loses one zone"}

test_loss_of_another_kind if {
	messages({"answers": {"survives": [{"key": "kubernetes.io/hostname", "gone": "never", "unreachable": "never"}]}}, {}) == set()
}

test_loss_of_another_question if messages(lost, {"params": {"answer": "fits"}}) == set()

test_loss_of_another_meaning if messages(lost, {"params": {"meaning": "meanwhile"}}) == set()

test_loss_of_finite_pods if messages(object.union(lost, {"permanent": false}), {}) == set()

test_unreachable_by_parameter if {
	unreachable := {"answers": {"survives": [{"key": zone, "gone": "always", "unreachable": "sometimes"}]}}
	messages(unreachable, {}) == set()
	count(messages(unreachable, {"params": {"unreachable": true}})) == 1
}

# together is all pods in one zone and on one node.
together := {"on_one_node_max": 3, "in_one_zone_max": 3}

test_meanwhile if {
	messages(together, {}) == {"Deployment shop/web (pods: 3) cannot always keep a pod running when it loses one zone"}
}

test_meanwhile_node if {
	messages({"on_one_node_max": 3}, {"params": {"key": "node"}}) == {"Deployment shop/web (pods: 3) cannot always keep a pod running when it loses one node"}
}

test_meanwhile_other_key if messages(together, {"params": {"key": "region"}}) == set()

test_meanwhile_of_another_meaning if messages(together, {"params": {"meaning": "afterwards"}}) == set()

test_meanwhile_of_finite_pods if messages(object.union(together, {"permanent": false}), {}) == set()

test_meanwhile_of_another_question if messages(together, {"params": {"answer": "fits"}}) == set()

test_meanwhile_unknown if {
	change := {"in_one_zone_min": 0, "in_one_zone_max": 3}
	messages(change, {}) == set()
	messages(change, {"params": {"report_unknown": true}}) == {"Deployment shop/web may be unable to keep a pod running when it loses one zone"}
}
