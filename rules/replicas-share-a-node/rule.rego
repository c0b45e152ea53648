# METADATA
# title: All replicas may run on one node
# description: >-
#   Nothing keeps the replicas apart: the scheduler is free to put all of them on one node, and the loss,
#   drain or upgrade of that node then takes the whole workload down. Preferred rules and the scheduler's
#   defaults spread pods as long as other nodes have room, which is not a promise. Add required anti-affinity
#   on kubernetes.io/hostname or a hard topology spread constraint.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["replicas-share-a-node"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.workloads
	fact.on_one_node >= fact.pods
	fact.lasting
	fact.placement_known
	fact.pods_known
	fact.pods >= 2
	fact.usable >= 2
	node := sprintf("a loss of %s may take %d of %s", [fact.node, fact.pods, text.pods(fact, fact.pods)])
	wishes := [sprintf("%s is only a wish", [soft]) | some soft in fact.soft]
	lines := text.lines(fact.workload, array.flatten([concat("", [node, zone(fact)]), wishes]))
}

zone(fact) := sprintf(", that of a zone %d of %d", [min([fact.in_one_zone, fact.pods]), fact.pods]) if fact.zones > 0

zone(fact) := "" if fact.zones == 0
