package schedlint.rules["require-label_test"]

import data.schedlint.rules["require-label"] as subject

web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"known": true,
	"labels_known": true,
	"labels": {"app": "web"},
	"pod_labels": {"app": "web"},
	"namespace_labels": {"app": "web"},
	"namespace_declared": true,
}

defaults := {"params": {"labels": ["team"], "on": "object", "pattern": ""}}

reported(change, params) := all if {
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	all := subject.report with input as given
}

# messages gives what is said about web after a change.
messages(change, params) := {r.said.message | some r in reported(change, params)}

test_reports if messages({}, {}) == {"Deployment shop/web: it has no label team"}

test_reports_pods if messages({}, {"params": {"on": "pods"}}) == {"Deployment shop/web: its pods have no label team"}

test_reports_namespace if messages({}, {"params": {"on": "namespace"}}) == {"Deployment shop/web: its namespace has no label team"}

test_reports_each_label if count(messages({}, {"params": {"labels": ["team", "cost-center"]}})) == 2

test_reports_a_value if {
	messages({"labels": {"team": "Shop"}}, {"params": {"pattern": "^[a-z]+$"}}) == {"Deployment shop/web: it has the label team=Shop, which does not match ^[a-z]+$"}
}

test_passes if {
	messages({"labels": {"team": "shop"}}, {"params": {"pattern": "^[a-z]+$"}}) == set()
	messages({"pod_labels": {"team": "shop"}}, {"params": {"on": "pods"}}) == set()
	messages({"namespace_labels": {"team": "shop"}}, {"params": {"on": "namespace"}}) == set()
}

test_any_value_passes if messages({"labels": {"team": ""}}, {}) == set()

test_unknown_is_silent if messages({"known": false}, {}) == set()

test_unknown_labels_are_silent if messages({"labels_known": false}, {}) == set()

test_unknown_key_is_silent if messages({"labels": {"${KEY}": "shop"}}, {}) == set()

test_unknown_value_is_silent if messages({"labels": {"team": "${TEAM}"}}, {"params": {"pattern": "^[a-z]+$"}}) == set()

test_unknown_namespace_is_silent if messages({"namespace_declared": false}, {"params": {"on": "namespace"}}) == set()
