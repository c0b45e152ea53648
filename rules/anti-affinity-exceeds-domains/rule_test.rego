package schedlint.rules["anti-affinity-exceeds-domains_test"]

import data.schedlint.rules["anti-affinity-exceeds-domains"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
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

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"anti_affinity": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 7 replicas need 7 distinct kubernetes.io/hostname values; 6 of 7 nodes are eligible and give 6; kni-control-plane has the untolerated taint x:NoSchedule; 1 pod stays Pending"
	subject.report == {{"rule": "anti-affinity-exceeds-domains", "fact": 1, "message": message}} with input as {"anti_affinity": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_all_nodes_eligible if {
	fact := object.union(bad, {"pods": 8, "nodes": 6, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: 8 replicas need 8 distinct kubernetes.io/hostname values; all 6 nodes are eligible and give 6; 2 pods stay Pending"}
}

test_growth_and_together if {
	fact := object.union(bad, {"workload": "Job shop/load", "nodes": 1, "eligible": 1, "domains": 1, "most": 1, "pods": 2, "excluded": [], "growth": "pool spot is counted at its max of 1", "together": "host port 80 allows one pod per node, too"})
	said(fact) == {"Job shop/load: 2 pods need 2 distinct kubernetes.io/hostname values; 1 of 1 node is eligible and gives 1; 1 pod stays Pending; pool spot is counted at its max of 1; host port 80 allows one pod per node, too"}
}

test_fewer_than_the_domains if {
	fact := object.union(bad, {"most": 5, "pending": 2, "excluded": []})
	said(fact) == {"Deployment shop/web: 7 replicas need 7 distinct kubernetes.io/hostname values; 6 of 7 nodes are eligible and give 6, with room for 5; 2 pods stay Pending"}
}
