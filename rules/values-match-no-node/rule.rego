# METADATA
# title: Chart values that match no declared node
# description: >-
#   A HelmRelease or an Argo CD Application gives a chart that is not in the repository a nodeSelector or a
#   required node affinity that no declared node matches. Pods that the chart gives these fields to stay
#   Pending; which pods that is, only the chart knows. Parts that are switched off by enabled: false or
#   replicas: 0 are not checked. Correct the label or its value, or declare the nodes that are meant.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.2.0
package schedlint.rules["values-match-no-node"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "values-match-no-node") if {
	some row in input.node_matches
	row.nodes > 0
	row.matching == 0
}
