package schedlint.rules["rollout-deadlock_test"]

import data.schedlint.rules["rollout-deadlock"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"arithmetic": "maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default)",
	"replicas": 3,
	"at": "",
	"reasons": ["required anti-affinity on kubernetes.io/hostname"],
	"room": "3 pods fit on 3 nodes",
	"others": [],
	"state": "",
	"refused": "",
	"skewed": false,
	"skew_key": "",
	"max_skew": 0,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"rollouts": [fact]}
}

test_reports if {
	message := "Deployment shop/web: a rollout never completes"
	details := ["maxSurge 25% of 3 rounds up to 1, maxUnavailable 25% of 3 rounds down to 0 (both by default), so 4 pods must run at the same time", "at most 3 pods fit on 3 nodes because of required anti-affinity on kubernetes.io/hostname"]
	subject.report == {{"rule": "rollout-deadlock", "fact": 1, "message": message, "details": details}} with input as {"rollouts": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_maybe_is_another_rule if said(object.union(bad, {"outcome": "sometimes"})) == set()

test_others_and_size if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/b"], "replicas": 6, "at": "at its maximum of 6 replicas", "reasons": ["required anti-affinity on kubernetes.io/hostname", "host port 80"], "room": ""})
	said(fact) == {"Deployment shop/web: a rollout never completes alongside Deployment shop/b (at its maximum of 6 replicas); maxSurge 1, maxUnavailable 0, so 7 pods must run at the same time; no node can take another pod because of required anti-affinity on kubernetes.io/hostname and host port 80"}
}

test_many_others if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "others": ["Deployment shop/a", "Deployment shop/b", "Deployment shop/c", "Deployment shop/d"], "reasons": [], "room": ""})
	said(fact) == {"Deployment shop/web: a rollout never completes alongside Deployment shop/a, Deployment shop/b, Deployment shop/c and 1 more; maxSurge 1, maxUnavailable 0, so 4 pods must run at the same time"}
}

test_both_whole if {
	fact := object.union(bad, {"workload": "Rollout shop/web", "way": "both-whole", "surge": 3, "arithmetic": "blueGreen: 3 new beside 3 pods", "room": "5 pods fit on 5 nodes"})
	said(fact) == {"Rollout shop/web: a rollout never completes; blueGreen: 3 new beside 3 pods, so 6 pods must run at the same time; at most 5 pods fit on 5 nodes because of required anti-affinity on kubernetes.io/hostname"}
}

test_surge_per_node if {
	fact := object.union(bad, {"workload": "DaemonSet shop/agent", "way": "surge-per-node", "arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": ["host port 9100"], "room": "1 pod fits on 1 node"})
	said(fact) == {"DaemonSet shop/agent: a rollout never completes; maxSurge 1, maxUnavailable 0, so each new pod starts next to the old one on the same node; at most 1 pod fits on 1 node because of host port 9100"}
}

test_recreate if {
	fact := object.union(bad, {"way": "recreate", "unavailable": 3, "arithmetic": "type Recreate", "reasons": [], "room": ""})
	said(fact) == {"Deployment shop/web: a rollout never completes; type Recreate"}
}

test_nodes_too_small if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": ["resource requests"], "room": "3 pods fit"})
	said(fact) == {"Deployment shop/web: a rollout never completes; maxSurge 1, maxUnavailable 0, so 4 pods must run at the same time; at most 3 pods fit because of resource requests"}
}

test_room_alone if {
	fact := object.union(bad, {"arithmetic": "maxSurge 1, maxUnavailable 0", "reasons": [], "room": "3 pods fit"})
	said(fact) == {"Deployment shop/web: a rollout never completes; maxSurge 1, maxUnavailable 0, so 4 pods must run at the same time; at most 3 pods fit"}
}
