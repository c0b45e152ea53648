# METADATA
# title: Volumes are not where the pods may run
# description: >-
#   A PersistentVolume with node affinity or zone labels, or the allowedTopologies of a StorageClass, restricts
#   its pods to some nodes. The rules of the pods exclude these nodes, or too few of them are left for all
#   pods, so pods stay Pending with "volume node affinity conflict". Without the volumes, all pods could run.
#   Create the volumes in a zone that the pods may use, or change the node selector, the taints or the
#   anti-affinity that keeps the pods away. A class with volumeBindingMode Immediate, which is the default, makes
#   volumes before their pods are scheduled, in any zone; it is reported where the pods can run only in some.
# related_resources:
#   - https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity
#   - https://kubernetes.io/docs/concepts/storage/storage-classes/#allowed-topologies
#   - https://github.com/kubernetes/kubernetes/issues/49906
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["volume-in-other-zone"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, {"reason": "volume-in-other-zone"}) if {
	some row in input.eligibility
	row.outcome == "never"
	count(row.volumes) > 0
}

report contains result.worded(rego.metadata.chain(), row, {"reason": "volume-in-other-zone", "level": "warning"}) if {
	some row in input.eligibility
	row.outcome == "sometimes"
	count(row.volumes) > 0
}
