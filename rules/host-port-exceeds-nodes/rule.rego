# METADATA
# title: More pods need a host port than there are nodes
# description: >-
#   Only one pod per node can use a host port, so excess pods stay Pending. Use a Service instead of the
#   host port, use a DaemonSet, or run fewer replicas.
# related_resources:
#   - https://kubernetes.io/docs/concepts/services-networking/service/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["host-port-exceeds-nodes"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "host-port-exceeds-nodes") if {
	some row in input.host_ports
	row.outcome == "never"
}
