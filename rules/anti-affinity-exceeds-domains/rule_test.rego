package schedlint.rules["anti-affinity-exceeds-domains_test"]

import data.schedlint.rules["anti-affinity-exceeds-domains"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"pods": 7,
	"key": "kubernetes.io/hostname",
	"domains": 6,
	"most": 6,
	"pending": 1,
	"nodes": 7,
	"eligible": 6,
	"excluded": ["kni-control-plane has the untolerated taint x:NoSchedule"],
	"growth": "",
	"together": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"anti_affinity": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 7 replicas need 7 distinct kubernetes.io/hostname values, but eligible nodes have only 6"
	details := ["6 of 7 nodes are eligible", "kni-control-plane has the untolerated taint x:NoSchedule", "1 pod stays Pending"]
	subject.report == {{"rule": "anti-affinity-exceeds-domains", "fact": 1, "message": message, "details": details}} with input as {"anti_affinity": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_all_nodes_eligible if {
	fact := object.union(bad, {"pods": 8, "nodes": 6, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: 8 replicas need 8 distinct kubernetes.io/hostname values, but eligible nodes have only 6; all 6 nodes are eligible; 2 pods stay Pending"}
}

test_growth_and_together if {
	fact := object.union(bad, {"workload": "Job shop/load", "nodes": 1, "eligible": 1, "domains": 1, "most": 1, "pods": 2, "excluded": [], "growth": "pool spot is counted at its max of 1", "together": "host port 80 allows one pod per node, too"})
	said(fact) == {"Job shop/load: 2 pods need 2 distinct kubernetes.io/hostname values, but eligible nodes have only 1; the only node is eligible; 1 pod stays Pending; pool spot is counted at its max of 1; host port 80 allows one pod per node, too"}
}

test_fewer_than_the_domains if {
	fact := object.union(bad, {"most": 5, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: 7 replicas need 7 distinct kubernetes.io/hostname values, but eligible nodes have 6 and only 5 pods fit; 6 of 7 nodes are eligible; 2 pods stay Pending"}
}
