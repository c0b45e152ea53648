# METADATA
# title: All replicas can run on one node
# description: >-
#   No rule keeps the replicas apart: the scheduler can place all of them on one node, and the loss, drain
#   or upgrade of that node then takes the whole workload down. Preferred rules and scheduler defaults
#   spread pods only while other nodes have capacity. The finding is a note if simulated runs of
#   kube-scheduler rarely place the replicas like that. Add required anti-affinity on
#   kubernetes.io/hostname or a topologySpreadConstraint with whenUnsatisfiable: DoNotSchedule.
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
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "one-node-takes-all"})) if {
	some row in input.sharing
	row.outcome == "sometimes"
}
