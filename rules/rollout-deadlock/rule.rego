# METADATA
# title: A rollout that never completes
# description: >-
#   A rolling update starts new pods before it stops old ones. When maxUnavailable rounds down to 0, as the
#   default of 25% does below 4 replicas, no old pod is removed before a new one is ready. If no node can
#   take the new pod, every change of the pod template hangs with a Pending pod until somebody intervenes.
#   Safest first: add matchLabelKeys: [pod-template-hash] to the rule (from Kubernetes 1.31 on) if only pods
#   of one revision must stay apart and the nodes have capacity; set maxUnavailable: 1 so that an old pod is
#   removed first; also set maxSurge: 0 so that no pod waits meanwhile; add a domain.
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

report contains result.reason(rego.metadata.chain(), row, "rollout-deadlock") if {
	some row in input.rollouts
	row.outcome == "never"
}
