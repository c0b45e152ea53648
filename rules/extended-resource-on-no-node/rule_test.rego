package schedlint.rules["extended-resource-on-no-node_test"]

import data.schedlint.rules["extended-resource-on-no-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment ml/train",
	"verdict": "unknown",
	"resource": "example.com/gpus",
	"request": "2",
	"largest": "0",
	"largest_node": "",
	"eligible": 3,
	"fitting": 0,
	"per_node": false,
	"suggestion": "example.com/gpu",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"requests": [fact]}
}

test_reports if {
	message := "Deployment ml/train: each pod requests 2 of example.com/gpus, which no node lists, so whether it fits is unknown; did you mean example.com/gpu?"
	subject.report == {{"rule": "extended-resource-on-no-node", "fact": 1, "message": message}} with input as {"requests": [bad]}
}

test_no_name_is_near if {
	said(object.union(bad, {"suggestion": ""})) == {"Deployment ml/train: each pod requests 2 of example.com/gpus, which no node lists, so whether it fits is unknown"}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_infeasible_is_another_rule if said(object.union(bad, {"verdict": "never"})) == set()
