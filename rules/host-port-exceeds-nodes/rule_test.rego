package schedlint.rules["host-port-exceeds-nodes_test"]

import data.schedlint.rules["host-port-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"pods": 3,
	"port": "8080/TCP",
	"nodes": 3,
	"eligible": 2,
	"pending": 1,
	"excluded": ["kni-control-plane has the untolerated taint x:NoSchedule"],
	"growth": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"host_ports": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 3 replicas use host port 8080/TCP, each on its own node, but only 2 of 3 nodes are eligible"
	details := ["kni-control-plane has the untolerated taint x:NoSchedule", "1 pod stays Pending"]
	subject.report == {{"rule": "host-port-exceeds-nodes", "fact": 1, "message": message, "details": details}} with input as {"host_ports": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"pods": 4, "pending": 2, "excluded": [], "growth": "pool spot is counted at its max of 2"})
	said(fact) == {"Deployment shop/web: 4 replicas use host port 8080/TCP, each on its own node, but only 2 of 3 nodes are eligible; 2 pods stay Pending; pool spot is counted at its max of 2"}
}
