package schedlint.rules["spread-exceeds-skew_test"]

import data.schedlint.rules["spread-exceeds-skew"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"cause": "skew",
	"pods": 4,
	"key": "kubernetes.io/hostname",
	"keys": "kubernetes.io/hostname",
	"max_skew": 1,
	"min_domains": 1,
	"domains": 4,
	"smallest": 0,
	"smallest_domain": "kni-control-plane",
	"most": 3,
	"pending": 1,
	"nodes": 4,
	"eligible": 3,
	"excluded": ["kni-control-plane has the untolerated taint x:NoSchedule"],
	"growth": "",
	"suggestion": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"spreads": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 4 replicas must spread over kubernetes.io/hostname with maxSkew 1, but only 3 fit"
	details := ["kni-control-plane can take 0, so every other value can take at most 1", "kni-control-plane has the untolerated taint x:NoSchedule", "1 pod stays Pending"]
	subject.report == {{"rule": "spread-exceeds-skew", "fact": 1, "message": message, "details": details}} with input as {"spreads": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_too_few_domains if {
	fact := object.union(bad, {"cause": "min-domains", "key": "topology.kubernetes.io/zone", "min_domains": 3, "domains": 2, "max_skew": 2, "pods": 6, "most": 4, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: minDomains requires 3 topology.kubernetes.io/zone values, but eligible nodes have 2, so each takes at most maxSkew 2 and only 4 fit; 2 pods stay Pending"}
}

test_no_node_with_all_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "kubernetes.io/hostnam", "keys": "kubernetes.io/hostnam", "pods": 4, "pending": 4, "excluded": [], "suggestion": "kubernetes.io/hostname"})
	said(fact) == {"Deployment shop/web: none of the 3 eligible nodes has the label kubernetes.io/hostnam; 4 pods stay Pending; did you mean kubernetes.io/hostname?"}
}

test_no_node_with_all_of_several_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "rack", "keys": "kubernetes.io/hostname, rack", "pods": 4, "pending": 4, "excluded": []})
	said(fact) == {"Deployment shop/web: none of the 3 eligible nodes has all topology keys of its hard constraints (kubernetes.io/hostname, rack); 4 pods stay Pending"}
}
