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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.host_ports
	fact.outcome == "never"
	lines := text.lines(fact.workload, array.flatten([
		need(fact), fact.excluded, text.pending(fact.pending), fact.growth,
	]))
}

need(fact) := sprintf("%s %s host port %s, each on its own node, but %s", [
	text.pods(fact, fact.pods), text.verb(fact.pods, "uses", "use"), fact.port, text.only_eligible(fact),
])
