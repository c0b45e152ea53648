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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.topology_keys
	fact.with == 0
	fact.usable > 0
	fact.declared
	what := sprintf("%s the label %s, so %s", [text.none_has(fact.usable), fact.key, effect(fact)])
	lines := text.lines(fact.workload, [what, text.meant(fact.suggestion)])
}

# of a workload hard rules that no node meets are another rule's, as its pods stay Pending
effect(fact) := what if what := effects[[fact.use, fact.hard]]

else := "no node satisfies the rule" if fact.fragment

effects := {
	["anti-affinity", true]: "the required anti-affinity has no effect",
	["anti-affinity", false]: "the preferred anti-affinity has no effect",
	["affinity", false]: "the preferred affinity has no effect",
	["spread", false]: "the ScheduleAnyway constraint has no effect",
}
