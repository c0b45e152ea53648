# METADATA
# title: Some usable nodes lack the topology key
# description: >-
#   Anti-affinity and preferences act only between nodes that carry the topology key. Pods on the other nodes
#   are not kept apart and not counted, so the rule holds for a part of the nodes only. Label all nodes, or
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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.topology_keys
	fact.with < fact.usable
	fact.with > 0
	fact.declared
	lacking := fact.usable - fact.with
	lack := sprintf("%s no label %s (%s), so %s", [
		text.some_have(lacking, fact.usable), fact.key, text.names(fact.without, lacking), effects[[fact.use, fact.hard]],
	])
	lines := text.lines(fact.workload, [lack, text.meant(fact.suggestion)])
}

effects := {
	["anti-affinity", true]: "pods there are not kept apart",
	["anti-affinity", false]: "the preference does not keep pods there apart",
	["affinity", false]: "the preference never favours them",
	["spread", false]: "the soft constraint leaves them out",
}
