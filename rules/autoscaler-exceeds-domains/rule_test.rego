package schedlint.rules["autoscaler-exceeds-domains_test"]

import data.schedlint.rules["autoscaler-exceeds-domains"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
	"scaler": "HorizontalPodAutoscaler shop/web",
	"min": 2,
	"max": 10,
	"default": false,
	"most": 3,
	"pending": 7,
	"reason": "required anti-affinity on kubernetes.io/hostname",
	"growth": "",
	"begins": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"autoscalers": [fact]}
}

test_reports if {
	message := "Deployment shop/web: HorizontalPodAutoscaler shop/web may ask for 10 pods, at most 3 fit: required anti-affinity on kubernetes.io/hostname; 7 pods would stay Pending"
	subject.report == {{"rule": "autoscaler-exceeds-domains", "fact": 1, "message": message}} with input as {"autoscalers": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown", "pending": 0})) == set()

test_growth_and_default if {
	fact := object.union(bad, {"scaler": "ScaledObject shop/web", "max": 100, "default": true, "most": 6, "pending": 94, "growth": "pool spot is counted at its max of 6", "begins": "it begins to fit with 100 nodes of pool spot"})
	said(fact) == {"Deployment shop/web: ScaledObject shop/web may ask for 100 pods by default, at most 6 fit: required anti-affinity on kubernetes.io/hostname; 94 pods would stay Pending; pool spot is counted at its max of 6; it begins to fit with 100 nodes of pool spot"}
}

test_one_pod_without_a_reason if {
	fact := object.union(bad, {"max": 2, "most": 1, "pending": 1, "reason": ""})
	said(fact) == {"Deployment shop/web: HorizontalPodAutoscaler shop/web may ask for 2 pods, at most 1 fits; 1 pod would stay Pending"}
}
