# METADATA
# title: Duplicate mapping key
# description: >-
#   A mapping can contain a key only once. Some tools reject the document, others silently keep the first or
#   the last value, so the result in the cluster depends on the tool. Remove one of the two. In a chart's
#   Chart.yaml and values files, and in what its templates print for an object that is checked, it is a
#   warning, because Helm uses the last value. Flux and the helmCharts of kustomize refuse what a chart
#   prints with a duplicate key, so that is an error.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["duplicate-key"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "duplicate-key") if {
	some row in input.documents
	row.problem == "duplicate-key"
	not row.last_counts
}

report contains result.worded(rego.metadata.chain(), row, {"reason": "duplicate-key", "level": "warning"}) if {
	some row in input.documents
	row.problem == "duplicate-key"
	row.last_counts
}
