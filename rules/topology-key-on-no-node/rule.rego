# METADATA
# title: No usable node carries the topology key
# description: >-
#   Anti-affinity and preferences act only between nodes that carry the topology key. When no node that the
#   pods may use carries it, the rule is accepted and does nothing at all. Often the key is misspelt or was
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

else := "no node meets the rule" if fact.fragment

effects := {
	["anti-affinity", true]: "the rule never keeps two pods apart",
	["anti-affinity", false]: "the preference never keeps two pods apart",
	["affinity", false]: "the preference never brings pods together",
	["spread", false]: "the soft constraint never spreads pods",
}
