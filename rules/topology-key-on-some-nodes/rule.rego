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
	["anti-affinity", true]: "the required anti-affinity does not keep pods apart there",
	["anti-affinity", false]: "the preferred anti-affinity does not keep pods apart there",
	["affinity", false]: "the preferred affinity has no effect there",
	["spread", false]: "the ScheduleAnyway constraint has no effect there",
}
