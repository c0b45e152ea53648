# METADATA
# title: A volume that pods on two nodes need at once
# description: >-
#   A ReadWriteOnce volume is attached to one node at a time, and the scheduler does not look at this. A pod
#   on another node stays in ContainerCreating with a Multi-Attach error until the volume is detached. It is
#   an error if the pods of a claim cannot all run on one node, and a warning if they may run on several,
#   such as replicas that share a claim, or a rolling update that starts the new pod before the old one is
#   gone. Volumes that are not attached (NFS) or that can be used on one node only (local-path) are fine,
#   and nothing is reported where the StorageClass is not known. It is also an error if several pods of a
#   workload use a ReadWriteOncePod claim: the scheduler leaves all but one of them Pending. Set strategy.type: Recreate or maxSurge: 0
#   for one pod; use a StatefulSet with volumeClaimTemplates for several, or ReadWriteMany where the
#   StorageClass supports it.
# related_resources:
#   - https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes
#   - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy
#   - https://github.com/kubernetes/kubernetes/issues/26567
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["volume-attached-twice"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "volume-attached-twice") if {
	some row in input.attachments
	row.outcome == "never"
}

report contains result.worded(rego.metadata.chain(), row, {"reason": "volume-attached-twice", "level": "warning"}) if {
	some row in input.attachments
	row.outcome == "sometimes"
	row.cause != "deadlock" # rollout-deadlock says it
}
