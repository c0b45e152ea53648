package schedlint.rules["rollout-ends-skewed_test"]

import data.schedlint.rules["rollout-ends-skewed"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"ending": "always",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"arithmetic": "maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)",
	"replicas": 3,
	"at": "",
	"reasons": [],
	"room": "",
	"others": [],
	"state": "",
	"refused": "",
	"skewed": true,
	"skew_key": "topology.kubernetes.io/zone",
	"max_skew": 1,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"rollouts": [fact]}
}

test_reports if {
	message := "Deployment shop/web: a rollout may leave pods uneven; the old ones count as well, so the new ones may end up beyond maxSkew 1 of topology.kubernetes.io/zone"
	subject.report == {{"rule": "rollout-ends-skewed", "fact": 1, "message": message}} with input as {"rollouts": [bad]}
}

test_passes if said(object.union(bad, {"skewed": false, "skew_key": "", "max_skew": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"ending": "unknown"})) == set()

test_stuck_is_another_rule if said(object.union(bad, {"ending": "sometimes"})) == set()

test_size if {
	fact := object.union(bad, {"at": "at its maximum of 6 replicas"})
	said(fact) == {"Deployment shop/web: a rollout may leave pods uneven (at its maximum of 6 replicas); the old ones count as well, so the new ones may end up beyond maxSkew 1 of topology.kubernetes.io/zone"}
}
