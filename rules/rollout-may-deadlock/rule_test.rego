package schedlint.rules["rollout-may-deadlock_test"]

import data.schedlint.rules["rollout-may-deadlock"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"ending": "sometimes",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"arithmetic": "maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)",
	"replicas": 3,
	"at": "",
	"reasons": [],
	"room": "",
	"others": [],
	"state": "2 old pods on n1, n2 and a new one on n3",
	"refused": "3 nodes refused by InterPodAffinity",
	"skewed": false,
	"skew_key": "",
	"max_skew": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"rollouts": [fact]}
}

test_reports if {
	message := "Deployment shop/web: a rollout may get stuck; maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default); with 2 old pods on n1, n2 and a new one on n3, a new pod fits nowhere (3 nodes refused by InterPodAffinity)"
	subject.report == {{"rule": "rollout-may-deadlock", "fact": 1, "message": message}} with input as {"rollouts": [bad]}
}

test_passes if said(object.union(bad, {"ending": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"ending": "unknown"})) == set()

test_certain_is_another_rule if said(object.union(bad, {"ending": "never"})) == set()

test_others_without_a_state if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/b", "Deployment shop/c"], "state": "", "refused": ""})
	said(fact) == {"Deployment shop/web: with Deployment shop/b, Deployment shop/c, a rollout may get stuck; maxSurge 1, maxUnavailable 0"}
}

test_refused_is_not_known if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "refused": ""})
	said(fact) == {"Deployment shop/web: a rollout may get stuck; maxSurge 1, maxUnavailable 0; with 2 old pods on n1, n2 and a new one on n3, a new pod fits nowhere"}
}
