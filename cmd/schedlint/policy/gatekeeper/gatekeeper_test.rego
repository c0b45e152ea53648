package gatekeeper_test

import data.gatekeeper

row(api, kind, metadata, spec) := {
	"api_version": api,
	"kind": kind,
	"name": metadata.name,
	"namespace": object.get(metadata, "namespace", ""),
	"manifest": {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec},
}

template := {"metadata": {"name": "x", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}}

web := row("apps/v1", "Deployment", {"name": "web", "namespace": "shop", "labels": {"tier": "front"}}, {"template": template})

loose := row("v1", "Service", {"name": "loose"}, {})

role := row("rbac.authorization.k8s.io/v1", "ClusterRole", {"name": "role"}, {})

space := row("v1", "Namespace", {"name": "shop"}, {})

# found gives the kinds of the reviews.
found(document, match) := {review.request.kind.kind | some review in gatekeeper.reviews(document, match)}

none := set()

pod_of_web := {
	"operation": "CREATE",
	"kind": {"group": "", "version": "v1", "kind": "Pod"},
	"name": "web",
	"namespace": "shop",
	"object": {
		"apiVersion": "v1",
		"kind": "Pod",
		"metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
		"spec": {"containers": [{"name": "a"}]},
	},
}

test_whole_reviews if {
	gatekeeper.reviews(web, {}) == [
		{"path": [], "request": {
			"operation": "CREATE",
			"kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
			"name": "web",
			"namespace": "shop",
			"object": web.manifest,
		}},
		{"path": ["spec", "template"], "request": pod_of_web},
	]
}

test_cron_job if {
	job := {"jobTemplate": {"spec": {"template": template}}}
	[["spec", "jobTemplate", "spec", "template"]] == [review.path |
		some review in gatekeeper.reviews(row("batch/v1", "CronJob", {"name": "j"}, job), {"kinds": [{"kinds": ["Pod"]}]})
	]
}

test_no_pod if {
	found(row("x/v1", "Chart", {"name": "c"}, {"template": {"spec": {"containers": "none"}}}), {}) == {"Chart"}
}

test_pod_without_metadata if {
	some review in gatekeeper.reviews(row("x/v1", "App", {"name": "a"}, {"template": {"spec": {"containers": []}}}), {})
	review.request.object.metadata == {"name": "a", "namespace": ""}
}

# An object that names no namespace has one, unless it is known to have none.
test_namespace_in_manifest if {
	[object.get(review.request.object.metadata, "namespace", "none") |
		some document in [loose, role, space, web]
		some review in gatekeeper.reviews(document, {"kinds": [{"kinds": [document.kind]}]})
	] == ["", "none", "none", "shop"]
}

# A kind of other groups may have the name of a kind without namespaces.
test_namespaced_node if {
	found(row("x/v1", "Node", {"name": "n", "namespace": "shop"}, {}), {"namespaces": ["other"]}) == none
}

test_kinds if {
	found(web, {"kinds": []}) == {"Deployment", "Pod"}
	found(web, {"kinds": [{"apiGroups": ["apps"], "kinds": ["Deployment"]}]}) == {"Deployment"}
	found(web, {"kinds": [{"apiGroups": [""], "kinds": ["Deployment"]}]}) == none
	found(web, {"kinds": [{"apiGroups": ["apps"], "kinds": ["Pod"]}]}) == none
	found(web, {"kinds": [{"apiGroups": [""], "kinds": ["Service"]}, {"apiGroups": [""], "kinds": ["Pod"]}]}) == {"Pod"}
	found(web, {"kinds": [{"apiGroups": ["*"], "kinds": ["*"]}]}) == {"Deployment", "Pod"}
	found(web, {"kinds": [{"apiGroups": [], "kinds": ["Pod"]}]}) == {"Pod"}
	found(web, {"kinds": [{"apiGroups": ["apps"]}]}) == {"Deployment"}
}

test_namespaces if {
	found(web, {"namespaces": []}) == {"Deployment", "Pod"}
	found(web, {"namespaces": ["sh*"]}) == {"Deployment", "Pod"}
	found(web, {"namespaces": ["default", "web"]}) == none
	found(loose, {"namespaces": ["default"]}) == {"Service"}
	found(loose, {"namespaces": ["shop"]}) == none
	found(role, {"namespaces": ["shop"]}) == {"ClusterRole"}
	found(space, {"namespaces": ["shop"]}) == {"Namespace"}
	found(space, {"namespaces": ["default"]}) == none
}

test_excluded_namespaces if {
	found(web, {"excludedNamespaces": ["*-system"]}) == {"Deployment", "Pod"}
	found(web, {"excludedNamespaces": ["shop"]}) == none
	found(loose, {"excludedNamespaces": ["default"]}) == none
	found(role, {"excludedNamespaces": ["*"]}) == {"ClusterRole"}
	found(space, {"excludedNamespaces": ["shop"]}) == none
	found(space, {"excludedNamespaces": ["default", ""]}) == {"Namespace"}
}

test_scope if {
	found(web, {"scope": "*"}) == {"Deployment", "Pod"}
	found(web, {"scope": "Cluster"}) == none
	found(role, {"scope": "Cluster"}) == {"ClusterRole"}
	found(space, {"scope": "Cluster"}) == {"Namespace"}
	found(web, {"scope": "Namespaced"}) == {"Deployment", "Pod"}
	found(loose, {"scope": "Namespaced"}) == {"Service"}
	found(role, {"scope": "Namespaced"}) == none
	found(space, {"scope": "Namespaced"}) == none
}

test_name if {
	found(role, {"name": ""}) == {"ClusterRole"}
	found(role, {"name": "ro*"}) == {"ClusterRole"}
	found(role, {"name": "web"}) == none
}

test_labels if {
	found(web, {"labelSelector": {"matchLabels": {"tier": "front"}}}) == {"Deployment"}
	found(web, {"labelSelector": {"matchLabels": {"tier": "back"}}}) == none
	found(role, {"labelSelector": {"matchLabels": {"tier": "back"}}}) == none
	found(role, {"labelSelector": {}}) == {"ClusterRole"}
}

selected(operator, values) if "Deployment" in found(web, {
	"kinds": [{"kinds": ["Deployment"]}],
	"labelSelector": {"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]},
})

test_expressions if {
	selected("In", ["back", "front"])
	not selected("In", ["back"])
	selected("NotIn", ["back"])
	not selected("NotIn", ["front"])
	selected("Exists", [])
	not selected("DoesNotExist", [])
	found(role, {"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}}) == none
	found(role, {"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}}) == {"ClusterRole"}
	found(role, {"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}}) == {"ClusterRole"}
}

test_finding if {
	gatekeeper.finding(web, {"path": ["spec"]}, {"msg": "no {{\"x\"}}\ny \n"}) == {
		"message": "Deployment web: no {{\"x\"}} y",
		"path": ["spec"],
	}
}

test_variables_are_silent if {
	every text in ["image ${IMAGE}", "image $(IMAGE)", "image {{ .Values.image }}"] {
		not gatekeeper.finding(web, {"path": []}, {"msg": text})
	}
}
