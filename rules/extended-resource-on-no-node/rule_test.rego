package schedlint.rules["extended-resource-on-no-node_test"]

import data.schedlint.rules["extended-resource-on-no-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment ml/train",
	"outcome": "unknown",
	"resource": "example.com/gpus",
	"request": "2",
	"largest": "0",
	"largest_node": "",
	"eligible": 3,
	"fitting": 0,
	"per_node": false,
	"suggestion": "example.com/gpu",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"requests": [fact]}
}

test_reports if {
	message := "Deployment ml/train: each pod requests 2 example.com/gpus, but no declared node lists example.com/gpus"
	details := ["it is unknown whether the pods fit", "did you mean example.com/gpu?"]
	subject.report == {{"rule": "extended-resource-on-no-node", "fact": 1, "message": message, "details": details}} with input as {"requests": [bad]}
}

test_no_name_is_near if {
	said(object.union(bad, {"suggestion": ""})) == {"Deployment ml/train: each pod requests 2 example.com/gpus, but no declared node lists example.com/gpus; it is unknown whether the pods fit"}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_infeasible_is_another_rule if said(object.union(bad, {"outcome": "never"})) == set()
