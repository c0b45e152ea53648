package schedlint.rules["deprecated-node-label_test"]

import data.schedlint.rules["deprecated-node-label"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"where": "nodeSelector",
	"key": "beta.kubernetes.io/os",
	"deprecated": true,
	"replacement": "kubernetes.io/os",
	"on_nodes": 0,
	"beside": false,
	"platform": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"node_labels": [fact]}
}

test_reports if {
	message := "Deployment shop/web: nodeSelector uses the deprecated node label beta.kubernetes.io/os, which is no longer set"
	details := ["use kubernetes.io/os"]
	subject.report == {{"rule": "deprecated-node-label", "fact": 1, "message": message, "details": details}} with input as {"node_labels": [bad]}
}

test_passes if said(object.union(bad, {"deprecated": false})) == set()

test_nodes_carry_it_all_the_same if said(object.union(bad, {"on_nodes": 2})) == set()

test_no_replacement if {
	fact := object.union(bad, {"replacement": ""})
	said(fact) == {"Deployment shop/web: nodeSelector uses the deprecated node label beta.kubernetes.io/os, which is no longer set"}
}

test_silent_beside_its_replacement if said(object.union(bad, {"beside": true})) == set()

test_silent_where_a_platform_sets_it if said(object.union(bad, {"platform": "OpenShift"})) == set()
