package schedlint.rules["autoscaler-exceeds-domains_test"]

import data.schedlint.rules["autoscaler-exceeds-domains"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"autoscalers": [fact]}
}

test_reports if {
	message := "Deployment shop/web: HorizontalPodAutoscaler shop/web can scale to 10 pods but only 3 fit"
	details := ["limited by required anti-affinity on kubernetes.io/hostname", "7 pods would stay Pending"]
	subject.report == {{"rule": "autoscaler-exceeds-domains", "fact": 1, "message": message, "details": details}} with input as {"autoscalers": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown", "pending": 0})) == set()

test_growth_and_default if {
	fact := object.union(bad, {"scaler": "ScaledObject shop/web", "max": 100, "default": true, "most": 6, "pending": 94, "growth": "pool spot is counted at its max of 6", "begins": "it begins to fit with 100 nodes of pool spot"})
	said(fact) == {"Deployment shop/web: ScaledObject shop/web can scale to 100 pods by default but only 6 fit; limited by required anti-affinity on kubernetes.io/hostname; 94 pods would stay Pending; pool spot is counted at its max of 6; it begins to fit with 100 nodes of pool spot"}
}

test_one_pod_without_a_reason if {
	fact := object.union(bad, {"max": 2, "most": 1, "pending": 1, "reason": ""})
	said(fact) == {"Deployment shop/web: HorizontalPodAutoscaler shop/web can scale to 2 pods but only 1 fits; 1 pod would stay Pending"}
}
