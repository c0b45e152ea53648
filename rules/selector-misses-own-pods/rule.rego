# METADATA
# title: Anti-affinity that selects no declared pods
# description: >-
#   Anti-affinity usually keeps the replicas of a workload apart. This term selects neither its own pods nor
#   other declared pods, so it has no effect. Often the selector uses a label that was renamed or never set;
#   make it match the labels of the pod template. The rule ignores labels that the operator of a declared
#   custom resource may set on its pods.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["selector-misses-own-pods"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "selector-misses-own-pods") if {
	some row in input.selectors
	row.matches == 0
	row.use == "anti-affinity"
	row.maker == ""
	not namespaces_exclude_own(row)
}

namespaces_exclude_own(row) if {
	row.matches_own == "always"
	row.own_namespace == "never"
}
