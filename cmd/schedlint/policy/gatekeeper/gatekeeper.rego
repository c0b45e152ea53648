package gatekeeper

import data.schedlint.keys

# reviews gives the requests that create an object and its pods, as far as the match of a constraint
# selects them. request is what a constraint template has as input.review, path is where its object
# stands in the document. Gatekeeper sees pods when their controllers create them; here, the pod of
# a template stands in for them.
reviews(document, match) := [review |
	some [path, api, kind, manifest] in array.concat([[[], document.api_version, document.kind, whole(document)]], pods(document))
	request := requested(document, api, kind, manifest)
	matches(match, request)
	review := {"path": path, "request": request}
]

# finding words a violation for result.finding. It is undefined if the message has a variable such
# as ${IMAGE}, because only a later tool knows the value.
finding(document, review, violation) := {"message": message, "path": review.path} if {
	not keys.variable(violation.msg)
	message := sprintf("%s %s: %s", [document.kind, document.name, trim_space(violation.msg)])
}

# whole is the document as the API server would see it: with its namespace, or "" if it is not known.
whole(document) := document.manifest if clustered(document)

whole(document) := object.union(document.manifest, {"metadata": {"namespace": document.namespace}}) if {
	not clustered(document)
	is_object(document.manifest)
}

# clustered reports whether an object of Kubernetes itself is in no namespace.
clustered(document) if {
	document.namespace == ""
	document.kind in {
		"APIService", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding",
		"CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "MutatingAdmissionPolicy",
		"MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume", "PriorityClass",
		"PriorityLevelConfiguration", "RuntimeClass", "StorageClass", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "VolumeAttachment",
	}
}

pods(document) := [[path, "v1", "Pod", pod] |
	some path in [["spec", "template"], ["spec", "jobTemplate", "spec", "template"]]
	template := object.get(document.manifest, path, {})
	is_array(template.spec.containers)
	written := {key: value | some key, value in template.metadata}
	pod := {
		"apiVersion": "v1",
		"kind": "Pod",
		"metadata": object.union(written, {"name": document.name, "namespace": document.namespace}),
		"spec": template.spec,
	}
]

requested(document, api, kind, manifest) := {
	"operation": "CREATE",
	"kind": {"group": concat("/", array.slice(parts, 0, count(parts) - 1)), "version": parts[count(parts) - 1], "kind": kind},
	"name": document.name,
	"namespace": document.namespace,
	"object": manifest,
} if {
	parts := split(api, "/")
}

matches(match, request) if {
	kinds(object.get(match, "kinds", []), request.kind)
	spaces(object.get(match, "namespaces", []), request)
	not excluded(object.get(match, "excludedNamespaces", []), request)
	scoped(object.get(match, "scope", "*"), request)
	selects(object.get(match, "labelSelector", {}), object.get(request.object.metadata, "labels", {}))
	keys.matches([name | name := match.name], request.name)
}

kinds([], _)

kinds(all, is) if {
	some one in all
	one_of(object.get(one, "kinds", []), is.kind)
	one_of(object.get(one, "apiGroups", []), is.group)
}

one_of([], _)

one_of(names, name) if {
	some wanted in names
	wanted in {"*", name}
}

# space is the namespace that a request is about, which may be unknown.
space(request) := request.name if request.kind.kind == "Namespace"

space(request) := request.namespace if request.kind.kind != "Namespace"

spaces([], _)

spaces(_, request) if unspaced(request)

spaces(globs, request) if keys.listed(globs, space(request))

excluded(globs, request) if keys.listed(globs, space(request))

# unspaced reports whether a request is about an object in no namespace that is no namespace itself.
unspaced(request) if {
	request.kind.kind != "Namespace"
	not is_string(request.object.metadata.namespace)
}

scoped(scope, _) if not scope in {"Cluster", "Namespaced"}

scoped("Cluster", request) if request.kind.kind == "Namespace"

scoped("Cluster", request) if unspaced(request)

scoped("Namespaced", request) if {
	request.kind.kind != "Namespace"
	not unspaced(request)
}

# selects reports whether a label selector of Kubernetes selects labels.
selects(selector, labels) if {
	every key, value in object.get(selector, "matchLabels", {}) {
		labels[key] == value
	}
	every one in object.get(selector, "matchExpressions", []) {
		fits(one.operator, one, labels)
	}
}

fits("In", one, labels) if labels[one.key] in one.values

fits("NotIn", one, labels) if not labels[one.key] in one.values

fits("Exists", one, labels) if labels[one.key]

fits("DoesNotExist", one, labels) if not labels[one.key]
