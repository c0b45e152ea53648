package schedlint.rules["rollout-may-deadlock_test"]

import data.schedlint.rules["rollout-may-deadlock"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "sometimes",
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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"rollouts": [fact]}
}

test_reports if {
	message := "Deployment shop/web: a rollout can get stuck"
	details := ["maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)", "with 2 old pods on n1, n2 and a new one on n3, no node can take a new pod (3 nodes refused by InterPodAffinity)"]
	subject.report == {{"rule": "rollout-may-deadlock", "fact": 1, "message": message, "details": details}} with input as {"rollouts": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_certain_is_another_rule if said(object.union(bad, {"outcome": "never"})) == set()

test_others_without_a_state if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/b", "Deployment shop/c"], "state": "", "refused": ""})
	said(fact) == {"Deployment shop/web: a rollout can get stuck alongside Deployment shop/b, Deployment shop/c; maxSurge 1, maxUnavailable 0"}
}

test_refused_is_not_known if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "refused": ""})
	said(fact) == {"Deployment shop/web: a rollout can get stuck; maxSurge 1, maxUnavailable 0; with 2 old pods on n1, n2 and a new one on n3, no node can take a new pod"}
}
