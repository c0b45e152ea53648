# METADATA
# title: All replicas can run on one node
# description: >-
#   Nothing keeps the replicas apart: the scheduler can place all of them on one node, and the loss, drain
#   or upgrade of that node then takes the whole workload down. Preferred rules and scheduler defaults
#   spread pods only while other nodes have capacity. Add required anti-affinity on kubernetes.io/hostname
#   or a topologySpreadConstraint with whenUnsatisfiable: DoNotSchedule.
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
	node := sprintf("losing node %s can take down all %s", [fact.node, text.pods(fact, fact.pods)])
	soft := [sprintf("%s is not enforced", [rule]) | some rule in fact.soft]
	lines := text.lines(fact.workload, array.flatten([node, zone(fact), soft]))
}

zone(fact) := sprintf("losing a zone can take down %s", [share(fact)]) if fact.zones > 0

zone(fact) := "" if fact.zones == 0

share(fact) := sprintf("all %d", [fact.pods]) if fact.in_one_zone >= fact.pods

share(fact) := sprintf("%d of %d", [fact.in_one_zone, fact.pods]) if fact.in_one_zone < fact.pods
