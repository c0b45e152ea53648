# METADATA
# title: A label is missing or has a value of the wrong form
# description: >-
#   Owners, cost centers, network policies and dashboards are found by labels, and a workload without them is
#   missed. Add the label to the object, to the pod template, or to the Namespace. A Namespace that is not part
#   of the input is not judged, nor is a value with a variable.
# related_resources:
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     required: [labels]
#     properties:
#       labels:
#         description: keys of the labels, each of which is required
#         type: array
#         minItems: 1
#         items: {type: string}
#       "on":
#         description: what has to carry the labels, the object itself, its pods or its namespace
#         type: string
#         enum: [object, pods, namespace]
#         default: object
#       pattern:
#         description: >-
#           regular expression (RE2) that each value has to match somewhere, or everywhere between ^ and $; any
#           value matches the empty one
#         type: string
#         default: ""
package schedlint.rules["require-label"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": reason, "values": object.union(values, more), "path": paths[input.params.on]}) if {
	some workload in input.workloads
	workload.known
	workload.labels_known
	some key in input.params.labels
	[reason, more] := wrong(labels(workload), key)
	values := {"workload": workload.ref, "on": input.params.on, "label": key}
}

paths := {"object": ["metadata", "labels"], "pods": ["spec", "template", "metadata", "labels"], "namespace": ["metadata", "namespace"]}

labels(w) := {"object": w.labels, "pods": w.pod_labels}[input.params.on]

labels(w) := w.namespace_labels if {
	input.params.on == "namespace"
	w.namespace_declared
}

wrong(carried, key) := ["label-missing", {}] if {
	not carried[key]
	every name, _ in carried { not keys.variable(name) }
}

wrong(carried, key) := ["label-mismatch", {"value": carried[key], "pattern": input.params.pattern}] if {
	not regex.match(input.params.pattern, carried[key])
	not keys.variable(carried[key])
}
