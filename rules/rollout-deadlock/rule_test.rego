package schedlint.rules["rollout-deadlock_test"]

import data.schedlint.rules["rollout-deadlock"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"ending": "never",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"arithmetic": "maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)",
	"replicas": 3,
	"at": "",
	"reasons": ["required anti-affinity on kubernetes.io/hostname"],
	"room": "3 pods on 3 values of kubernetes.io/hostname",
	"others": [],
	"state": "",
	"refused": "",
	"skewed": false,
	"skew_key": "",
	"max_skew": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"rollouts": [fact]}
}

test_reports if {
	message := "Deployment shop/web: a rollout never completes; maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default), so 4 pods have to fit beside one another; required anti-affinity on kubernetes.io/hostname leaves room for 3 pods on 3 values of kubernetes.io/hostname"
	subject.report == {{"rule": "rollout-deadlock", "fact": 1, "message": message}} with input as {"rollouts": [bad]}
}

test_passes if said(object.union(bad, {"ending": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"ending": "unknown"})) == set()

test_maybe_is_another_rule if said(object.union(bad, {"ending": "sometimes"})) == set()

test_others_and_size if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/b"], "replicas": 6, "at": "at its maximum of 6 replicas", "reasons": ["required anti-affinity on kubernetes.io/hostname", "host port 80"], "room": ""})
	said(fact) == {"Deployment shop/web: with Deployment shop/b, a rollout never completes (at its maximum of 6 replicas); maxSurge 1, maxUnavailable 0, so 7 pods have to fit beside one another; required anti-affinity on kubernetes.io/hostname and host port 80 leave no room"}
}

test_many_others if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/a", "Deployment shop/b", "Deployment shop/c", "Deployment shop/d"], "reasons": [], "room": ""})
	said(fact) == {"Deployment shop/web: with Deployment shop/a, Deployment shop/b, Deployment shop/c and others, a rollout never completes; maxSurge 1, maxUnavailable 0, so 4 pods have to fit beside one another"}
}

test_both_whole if {
	fact := object.union(bad, {"workload": "Rollout shop/web", "way": "both-whole", "surge": 3, "arithmetic": "blueGreen: 3 new beside 3 pods", "room": "5 pods on 5 values of kubernetes.io/hostname"})
	said(fact) == {"Rollout shop/web: a rollout never completes; blueGreen: 3 new beside 3 pods, so 6 pods have to fit beside one another; required anti-affinity on kubernetes.io/hostname leaves room for 5 pods on 5 values of kubernetes.io/hostname"}
}

test_surge_per_node if {
	fact := object.union(bad, {"workload": "DaemonSet shop/agent", "way": "surge-per-node", "arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": ["host port 9100"], "room": "1 pod on each node"})
	said(fact) == {"DaemonSet shop/agent: a rollout never completes; maxSurge 1, maxUnavailable 0, so a new pod starts beside the old one on the same node; host port 9100 leaves room for 1 pod on each node"}
}

test_recreate if {
	fact := object.union(bad, {"way": "recreate", "unavailable": 3, "arithmetic": "type Recreate", "reasons": [], "room": ""})
	said(fact) == {"Deployment shop/web: a rollout never completes; type Recreate"}
}

test_nodes_too_small if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": ["the requests"], "room": "3 pods"})
	said(fact) == {"Deployment shop/web: a rollout never completes; maxSurge 1, maxUnavailable 0, so 4 pods have to fit beside one another; the requests leave room for 3 pods"}
}

test_room_alone if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": [], "room": "3 pods"})
	said(fact) == {"Deployment shop/web: a rollout never completes; maxSurge 1, maxUnavailable 0, so 4 pods have to fit beside one another; there is room for 3 pods"}
}
