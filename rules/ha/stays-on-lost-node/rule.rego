# METADATA
# title: Pods that never leave a lost node
# description: >-
#   While a node is not ready or unreachable, the cluster evicts its pods after 300 seconds, unless they
#   tolerate that longer (plugin/pkg/admission/defaulttolerationseconds). A toleration of
#   node.kubernetes.io/not-ready or unreachable without tolerationSeconds keeps them on the node for good:
#   they are down until the node is back, or someone deletes it. Set tolerationSeconds. As in the cluster,
#   the first toleration counts that tolerates the taint. DaemonSets and pods that run to completion are
#   left out, and tolerations with a variable are not judged.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
#   - https://kubernetes.io/docs/concepts/architecture/nodes/#condition
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [ha]
package schedlint.rules["ha.stays-on-lost-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), forever[0].by, {"reason": "stays-on-lost-node", "values": values}) if {
	some workload in input.workloads
	workload.permanent
	every toleration in workload.tolerations { toleration.known }
	forever := [{"taint": taint, "by": by} |
		some taint in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
		by := [toleration | some toleration in workload.tolerations; tolerates(toleration, taint)][0]
		by.seconds < 0
	]
	values := {"workload": workload.ref, "taints": [stay.taint | some stay in forever]}
}

tolerates(toleration, taint) if {
	toleration.effect in {"", "NoExecute"}
	toleration.key in {"", taint}
	matches_no_value(toleration)
}

matches_no_value(toleration) if toleration.operator == "Exists"

matches_no_value(toleration) if {
	toleration.operator == "Equal"
	toleration.value == ""
}
