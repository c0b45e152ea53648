# METADATA
# title: Pods that name their node
# description: >-
#   With nodeName the scheduler is not asked: the pods run on that node even if it is cordoned or its taints
#   are to keep them off, the kubelet rejects those that do not fit, and while the node is drained or
#   replaced their successors go to it or nowhere. Use a nodeSelector or node affinity, which the scheduler
#   follows. Pods that run are left out, as the scheduler has set their node, and so is a name with a
#   variable.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.node-name-set"]

import data.schedlint.keys
import data.schedlint.pods
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "node-name-set", "values": values, "path": pods.path(workload, "nodeName")}) if {
	some workload in input.workloads
	workload.node_name != ""
	not keys.variable(workload.node_name)
	values := {"workload": workload.ref, "node": workload.node_name}
}
