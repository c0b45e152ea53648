# METADATA
# title: A rollout that never completes
# description: >-
#   A rolling update starts new pods before it stops old ones, and with maxUnavailable rounded down to 0, as
#   the default of 25% is below 4 replicas, no old pod goes before a new one runs. Where the rules leave no
#   room for that one, every change of the template hangs with a Pending pod until somebody steps in. In the
#   order of safety: add matchLabelKeys: [pod-template-hash] to the rule if only the pods of one revision
#   have to stay apart and the nodes have room for more of them; set maxUnavailable: 1, so an old pod makes
#   room; set maxSurge: 0, too, so no pod waits meanwhile; add one more domain.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://github.com/kubernetes/kubernetes/issues/116891
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["rollout-deadlock"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.rollouts
	fact.ending == "never"
	how := concat(", so ", [part | some part in [fact.arithmetic, need(fact)]; part != ""])
	lines := text.lines(fact.workload, [text.rollout(fact, "never completes"), how, text.room(fact)])
}

need(fact) := fit(fact.replicas + 1) if {
	fact.way == "rolling"
	fact.unavailable == 0
} else := fit(2 * fact.replicas) if {
	fact.way == "both-whole"
} else := "a new pod starts beside the old one on the same node" if {
	fact.way == "surge-per-node"
} else := ""

fit(n) := sprintf("%d pods have to fit beside one another", [n])
