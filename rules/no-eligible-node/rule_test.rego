package schedlint.rules["no-eligible-node_test"]

import data.schedlint.rules["no-eligible-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
	"pods": 3,
	"nodes": 6,
	"eligible": 0,
	"bound": "",
	"reasons": ["4 of 6 nodes lack the label disktype=ssd", "2 of 6 nodes have the untolerated taint gpu:NoSchedule"],
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"eligibility": [fact]}
}

test_reports if {
	message := "Deployment shop/web: no eligible node among 6; 4 of 6 nodes lack the label disktype=ssd; 2 of 6 nodes have the untolerated taint gpu:NoSchedule; 3 pods stay Pending"
	subject.report == {{"rule": "no-eligible-node", "fact": 1, "message": message}} with input as {"eligibility": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_unknown_number if {
	fact := object.union(bad, {"pods": 0, "reasons": []})
	said(fact) == {"Deployment shop/web: no eligible node among 6"}
}

test_one_pod if {
	fact := object.union(bad, {"pods": 1, "reasons": []})
	said(fact) == {"Deployment shop/web: no eligible node among 6; 1 pod stays Pending"}
}

test_undeclared_node if {
	fact := object.union(bad, {"bound": "undeclared", "reasons": ["node w9, which nodeName names, is not declared"]})
	said(fact) == {concat("; ", [
		"Deployment shop/web: no eligible node among 6",
		"node w9, which nodeName names, is not declared",
		"3 pods are never scheduled: the pod garbage collector deletes them",
	])}
}

test_one_undeclared if {
	fact := object.union(bad, {"bound": "undeclared", "pods": 1, "reasons": []})
	said(fact) == {"Deployment shop/web: no eligible node among 6; 1 pod is never scheduled: the pod garbage collector deletes it"}
}

test_declared_node if {
	fact := object.union(bad, {"bound": "declared", "pods": 2, "reasons": ["1 of 1 node lacks the label disktype=ssd"]})
	said(fact) == {"Deployment shop/web: no eligible node among 6; 1 of 1 node lacks the label disktype=ssd; the kubelet rejects 2 pods"}
}
