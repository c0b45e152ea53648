package schedlint.rules["host-port-exceeds-nodes_test"]

import data.schedlint.rules["host-port-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
	"pods": 3,
	"port": "8080/TCP",
	"nodes": 3,
	"eligible": 2,
	"pending": 1,
	"excluded": ["kni-control-plane has the untolerated taint x:NoSchedule"],
	"growth": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"host_ports": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 3 replicas ask for host port 8080/TCP, which a node has once; 2 of 3 nodes are eligible; kni-control-plane has the untolerated taint x:NoSchedule; 1 pod stays Pending"
	subject.report == {{"rule": "host-port-exceeds-nodes", "fact": 1, "message": message}} with input as {"host_ports": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"pods": 4, "pending": 2, "excluded": [], "growth": "pool spot is counted at its max of 2"})
	said(fact) == {"Deployment shop/web: 4 replicas ask for host port 8080/TCP, which a node has once; 2 of 3 nodes are eligible; 2 pods stay Pending; pool spot is counted at its max of 2"}
}
