package schedlint.rules["no-eligible-node_test"]

import data.schedlint.rules["no-eligible-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"pods": 3,
	"nodes": 6,
	"eligible": 0,
	"bound": "",
	"reasons": ["4 of 6 nodes lack the label disktype=ssd", "2 of 6 nodes have the untolerated taint gpu:NoSchedule"],
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"eligibility": [fact]}
}

test_reports if {
	message := "Deployment shop/web: none of the 6 nodes is eligible"
	details := ["4 of 6 nodes lack the label disktype=ssd", "2 of 6 nodes have the untolerated taint gpu:NoSchedule", "3 pods stay Pending"]
	subject.report == {{"rule": "no-eligible-node", "fact": 1, "message": message, "details": details}} with input as {"eligibility": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_unknown_number if {
	fact := object.union(bad, {"pods": 0, "reasons": []})
	said(fact) == {"Deployment shop/web: none of the 6 nodes is eligible"}
}

test_one_pod if {
	fact := object.union(bad, {"pods": 1, "reasons": []})
	said(fact) == {"Deployment shop/web: none of the 6 nodes is eligible; 1 pod stays Pending"}
}

test_undeclared_node if {
	fact := object.union(bad, {"bound": "undeclared", "reasons": ["node w9, which nodeName names, is not declared"]})
	said(fact) == {"Deployment shop/web: none of the 6 nodes is eligible; node w9, which nodeName names, is not declared; the pod garbage collector deletes 3 pods because the node does not exist"}
}

test_one_undeclared if {
	fact := object.union(bad, {"bound": "undeclared", "pods": 1, "reasons": []})
	said(fact) == {"Deployment shop/web: none of the 6 nodes is eligible; the pod garbage collector deletes 1 pod because the node does not exist"}
}

test_declared_node if {
	fact := object.union(bad, {"bound": "declared", "pods": 2, "reasons": ["1 of 1 node lacks the label disktype=ssd"]})
	said(fact) == {"Deployment shop/web: none of the 6 nodes is eligible; 1 of 1 node lacks the label disktype=ssd; the kubelet rejects 2 pods"}
}
