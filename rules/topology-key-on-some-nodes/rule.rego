# METADATA
# title: Some eligible nodes lack the topology key
# description: >-
#   Anti-affinity and preferred rules apply only between nodes that have the topology key. Pods on other
#   nodes are neither kept apart nor counted, so the rule covers only some of the nodes. Label all nodes, or
#   restrict the pods to nodes with the label.
# related_resources:
#   - https://kubernetes.io/docs/reference/labels-annotations-taints/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["topology-key-on-some-nodes"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "topology-key-on-some-nodes") if {
	some row in input.topology_keys
	row.with < row.usable
	row.with > 0
	not excludes(row)
}

# hard rules of these kinds keep pods off the other nodes, as they are meant to
excludes(row) if {
	row.hard
	row.use in {"affinity", "spread"}
}
