package gatekeeper

import data.schedlint.keys

# reviews returns the requests that create an object and its pods, if the match of a constraint
# selects them. A constraint template reads the request as input.review. The path leads to the object
# in the document. Gatekeeper sees pods when their controllers create them; here, the pod template
# represents them.
reviews(document, match) := [review |
	some made in array.concat(itself(document, match), pods(document, match))
	request := requested(document, made)
	not refused(match, request)
	review := {"path": made.path, "request": request}
]

# finding words a violation for result.finding. It is undefined if the message has a variable such
# as ${IMAGE}, because only a later tool knows the value.
finding(document, review, violation) := {"message": message, "path": review.path} if {
	not regex.match(`\$[{(][A-Za-z_]|\{\{ `, violation.msg)
	message := sprintf("%s %s: %s", [document.kind, document.name, replace(trim_space(violation.msg), "\n", " ")])
}

itself(document, match) := [made |
	parts := split(document.api_version, "/")
	group := concat("/", array.slice(parts, 0, count(parts) - 1))
	kinds(object.get(match, "kinds", []), group, document.kind)
	kind := {"group": group, "version": parts[count(parts) - 1], "kind": document.kind}
	made := {"path": [], "kind": kind, "object": whole(document)}
]

# whole is the document as the API server would see it: with its namespace, or "" if it is not known.
whole(document) := document.manifest if {
	document.manifest.metadata.namespace
} else := document.manifest if {
	clustered(document)
} else := object.union(document.manifest, {"metadata": {"namespace": document.namespace}})

# clustered reports whether a kind of Kubernetes itself is in no namespace.
clustered(document) if document.kind in {
	"APIService", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding",
	"CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "MutatingAdmissionPolicy",
	"MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume", "PriorityClass",
	"PriorityLevelConfiguration", "RuntimeClass", "StorageClass", "ValidatingAdmissionPolicy",
	"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "VolumeAttachment",
}

pods(document, match) := [made |
	kinds(object.get(match, "kinds", []), "", "Pod")
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
	made := {"path": path, "kind": {"group": "", "version": "v1", "kind": "Pod"}, "object": pod}
]

requested(document, made) := {
	"operation": "CREATE",
	"kind": made.kind,
	"name": document.name,
	"namespace": document.namespace,
	"object": made.object,
}

kinds([], _, _)

kinds(wanted, group, kind) if {
	some one in wanted
	one_of(object.get(one, "kinds", []), kind)
	one_of(object.get(one, "apiGroups", []), group)
}

one_of([], _)

one_of(names, name) if {
	some wanted in names
	wanted in {"*", name}
}

# refused reports whether one part of a match selects something else than the request.
refused(match, request) if {
	count(match.namespaces) > 0
	not keys.listed(match.namespaces, space(request))
}

refused(match, request) if keys.listed(match.excludedNamespaces, space(request))

refused(match, request) if {
	match.scope == "Cluster"
	not unspaced(request)
}

refused(match, request) if {
	match.scope == "Namespaced"
	unspaced(request)
}

refused(match, request) if {
	match.name != ""
	not glob.match(match.name, null, request.name)
}

refused(match, request) if {
	labels := object.get(request.object.metadata, "labels", {})
	some key, value in match.labelSelector.matchLabels
	not labels[key] == value
}

refused(match, request) if {
	labels := object.get(request.object.metadata, "labels", {})
	some one in match.labelSelector.matchExpressions
	not fits(one.operator, one, labels)
}

fits("In", one, labels) if among(labels, one)

fits("NotIn", one, labels) if not among(labels, one)

fits("Exists", one, labels) if labels[one.key]

fits("DoesNotExist", one, labels) if not labels[one.key]

among(labels, one) if labels[one.key] in one.values

# space is the namespace that a request is about. It is the default one if the document names none.
space(request) := request.name if {
	request.kind.kind == "Namespace"
} else := request.namespace if {
	request.namespace != ""
} else := "default" if {
	not unspaced(request)
}

# unspaced reports whether a request is about an object in no namespace.
unspaced(request) if not request.object.metadata.namespace
