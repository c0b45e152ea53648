# METADATA
# title: No eligible node has the topology key
# description: >-
#   Anti-affinity and preferred rules apply only between nodes that have the topology key. When no eligible
#   node has it, the API server accepts the rule, but it has no effect. Often the key is misspelled or was
#   renamed.
# related_resources:
#   - https://kubernetes.io/docs/reference/labels-annotations-taints/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["topology-key-on-no-node"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "topology-key-on-no-node") if {
	some row in input.topology_keys
	row.with == 0
	row.usable > 0
	not pending(row)
}

# pods whose hard rules no node meets stay Pending, which is another rule's
pending(row) if {
	row.hard
	row.use in {"affinity", "spread"}
	not row.fragment
}
