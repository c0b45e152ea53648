package schedlint.rules["spread-counts-no-pod_test"]

import data.schedlint.rules["spread-counts-no-pod"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"use": "spread",
	"hard": true,
	"form": "set",
	"text": "app=website",
	"matches_own": "never",
	"own_namespace": "always",
	"matches": 0,
	"declared": 12,
	"namespaces": "shop",
	"nearest": "app=web",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"selectors": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the topology spread constraint selects app=website, which matches no pod of its namespace (did you mean app=web?)"
	subject.report == {{"rule": "spread-counts-no-pod", "fact": 1, "message": message}} with input as {"selectors": [bad]}
}

test_passes if said(object.union(bad, {"matches": 1, "matches_own": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"matches": 1, "matches_own": "unknown"})) == set()

test_anti_affinity_is_another_rule if said(object.union(bad, {"use": "anti-affinity"})) == set()

test_no_selector if {
	fact := object.union(bad, {"form": "null", "text": "", "nearest": ""})
	said(fact) == {"Deployment shop/web: the topology spread constraint has no labelSelector, so it counts no pod"}
}

test_empty_selector if {
	fact := object.union(bad, {"form": "empty", "text": "", "matches": 12, "nearest": ""})
	said(fact) == {"Deployment shop/web: the topology spread constraint has an empty labelSelector, which counts no pod on Kubernetes v1.36 (kubernetes/kubernetes#141339)"}
}
