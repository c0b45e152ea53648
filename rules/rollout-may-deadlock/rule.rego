# METADATA
# title: A rollout that can get stuck
# description: >-
#   Some runs of the update complete; in others no node can take a new pod while the old ones wait for it,
#   depending on where the scheduler places pods and which old pod is removed first. The finding shows such
#   a state. It happens with little spare capacity, with rules that match both old and new pods, and with
#   workloads that share nodes; the scheduler does not move pods afterwards. Safest first: set
#   maxUnavailable: 1 and maxSurge: 0 so that old pods are removed first; lower the requests or keep other
#   workloads off those nodes; add a node; make the rule preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["rollout-may-deadlock"]

import data.schedlint.result
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "rollout-may-deadlock"})) if {
	some row in input.rollouts
	row.outcome == "sometimes"
	row.hangs == "" # volume-attached-twice says it
}
