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

# findings are those about web after a change.
findings(change, params) := {r.given | some r in reported(change, params)}

found := {"reason": "label-missing", "values": {"workload": "Deployment shop/web", "on": "object", "label": "team"}, "path": ["metadata", "labels"]}

test_reports if findings({}, {}) == {found}

test_reports_pods if findings({}, {"params": {"on": "pods"}}) == {object.union(found, {"values": {"on": "pods"}, "path": ["spec", "template", "metadata", "labels"]})}

test_reports_namespace if findings({}, {"params": {"on": "namespace"}}) == {object.union(found, {"values": {"on": "namespace"}, "path": ["metadata", "namespace"]})}

test_reports_each_label if count(findings({}, {"params": {"labels": ["team", "cost-center"]}})) == 2

test_reports_a_value if {
	findings({"labels": {"team": "Shop"}}, {"params": {"pattern": "^[a-z]+$"}}) == {{"reason": "label-mismatch", "values": {"workload": "Deployment shop/web", "on": "object", "label": "team", "value": "Shop", "pattern": "^[a-z]+$"}, "path": ["metadata", "labels"]}}
}

test_passes if {
	findings({"labels": {"team": "shop"}}, {"params": {"pattern": "^[a-z]+$"}}) == set()
	findings({"pod_labels": {"team": "shop"}}, {"params": {"on": "pods"}}) == set()
	findings({"namespace_labels": {"team": "shop"}}, {"params": {"on": "namespace"}}) == set()
}

test_any_value_passes if findings({"labels": {"team": ""}}, {}) == set()

test_unknown_is_silent if findings({"known": false}, {}) == set()

test_unknown_labels_are_silent if findings({"labels_known": false}, {}) == set()

test_unknown_key_is_silent if findings({"labels": {"${KEY}": "shop"}}, {}) == set()

test_unknown_value_is_silent if findings({"labels": {"team": "${TEAM}"}}, {"params": {"pattern": "^[a-z]+$"}}) == set()

test_unknown_namespace_is_silent if findings({"namespace_declared": false}, {"params": {"on": "namespace"}}) == set()
