package schedlint.rules["spread-exceeds-skew_test"]

import data.schedlint.rules["spread-exceeds-skew"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
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

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"spreads": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 4 replicas must spread over kubernetes.io/hostname with maxSkew 1; kni-control-plane can hold 0, so no domain may exceed 1 and 3 fit; kni-control-plane has the untolerated taint x:NoSchedule; 1 pod stays Pending"
	subject.report == {{"rule": "spread-exceeds-skew", "fact": 1, "message": message}} with input as {"spreads": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_too_few_domains if {
	fact := object.union(bad, {"cause": "min-domains", "key": "topology.kubernetes.io/zone", "min_domains": 3, "domains": 2, "max_skew": 2, "pods": 6, "most": 4, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: minDomains asks for 3 topology.kubernetes.io/zone values and eligible nodes give 2, so each holds at most maxSkew 2 and 4 fit; 2 pods stay Pending"}
}

test_no_node_with_all_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "kubernetes.io/hostnam", "keys": "kubernetes.io/hostnam", "pods": 4, "pending": 4, "excluded": [], "suggestion": "kubernetes.io/hostname"})
	said(fact) == {"Deployment shop/web: none of the 3 nodes it may use has the label kubernetes.io/hostnam; 4 pods stay Pending; did you mean kubernetes.io/hostname?"}
}

test_no_node_with_all_of_several_keys if {
	fact := object.union(bad, {"cause": "missing-key", "key": "rack", "keys": "kubernetes.io/hostname, rack", "pods": 4, "pending": 4, "excluded": []})
	said(fact) == {"Deployment shop/web: none of the 3 nodes it may use has all the labels of its hard constraints, kubernetes.io/hostname, rack; 4 pods stay Pending"}
}
