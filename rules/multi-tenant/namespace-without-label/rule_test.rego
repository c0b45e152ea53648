package schedlint.rules["multi-tenant.namespace-without-label_test"]

import data.schedlint.rules["multi-tenant.namespace-without-label"] as subject

blue := {"id": 1, "api_version": "v1", "kind": "Namespace", "name": "blue-1", "labels": {}}

# reported gives the findings about one object.
reported(object) := findings if {
	findings := {r.given | some r in subject.report} with input as {"objects": [object], "params": {
		"tenants": [{"name": "blue", "namespaces": ["blue-*"], "pools": []}],
		"label": "tenant",
	}}
}

test_reports if reported(blue) == {{"reason": "namespace-without-label", "values": {"namespace": "blue-1", "tenant": "blue", "label": "tenant"}, "path": ["metadata", "labels"]}}

test_passes if reported(object.union(blue, {"labels": {"tenant": "blue"}})) == set()

test_no_tenant if reported(object.union(blue, {"name": "shop"})) == set()

test_other_kind if reported(object.union(blue, {"kind": "ConfigMap"})) == set()

test_other_group if reported(object.union(blue, {"api_version": "example.com/v1"})) == set()

test_unknown_is_silent if reported(object.union(blue, {"name": "${NAMESPACE}"})) == set()
