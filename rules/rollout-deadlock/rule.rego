# METADATA
# title: A rollout that never completes
# description: >-
#   A rolling update starts new pods before it stops old ones. When maxUnavailable rounds down to 0, as the
#   default of 25% does below 4 replicas, no old pod is removed before a new one is ready. If no node can
#   take the new pod, every change of the pod template hangs with a Pending pod until somebody intervenes.
#   Safest first: add matchLabelKeys: [pod-template-hash] to the rule if only pods of one revision must stay
#   apart and the nodes have capacity; set maxUnavailable: 1 so that an old pod is removed first; also set
#   maxSurge: 0 so that no pod waits meanwhile; add a domain.
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
	fact.outcome == "never"
	how := concat(", so ", text.nonempty([fact.arithmetic, need(fact)]))
	lines := text.lines(fact.workload, [text.rollout(fact, "never completes"), how, text.room(fact)])
}

need(fact) := fit(fact.replicas + 1) if {
	fact.way == "rolling"
	fact.unavailable == 0
} else := fit(2 * fact.replicas) if {
	fact.way == "both-whole"
} else := "each new pod starts next to the old one on the same node" if {
	fact.way == "surge-per-node"
} else := ""

fit(n) := sprintf("%d pods must run at the same time", [n])
