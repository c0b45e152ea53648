package schedlint.rules["affinity-never-satisfied_test"]

import data.schedlint.rules["affinity-never-satisfied"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
	"cause": "missing-key",
	"key": "topology.kubernetes.io/hostname",
	"usable": 6,
	"with": 0,
	"suggestion": "kubernetes.io/hostname",
	"detail": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"affinity": [fact]}
}

test_reports if {
	message := "Deployment shop/web: none of the 6 nodes it may use has the label topology.kubernetes.io/hostname, which the required affinity demands; every pod stays Pending; did you mean kubernetes.io/hostname?"
	subject.report == {{"rule": "affinity-never-satisfied", "fact": 1, "message": message}} with input as {"affinity": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_no_selector if {
	fact := object.union(bad, {"cause": "null-selector", "key": "kubernetes.io/hostname", "suggestion": ""})
	said(fact) == {"Deployment shop/web: the required affinity on kubernetes.io/hostname has no labelSelector, so it matches no pod; every pod stays Pending"}
}

test_contradiction if {
	fact := object.union(bad, {"cause": "contradiction", "suggestion": "", "detail": "app=db and app=cache"})
	said(fact) == {"Deployment shop/web: no pod can match all terms of the required affinity: app=db and app=cache; every pod stays Pending"}
}
