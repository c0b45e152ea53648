# METADATA
# title: More pods need a host port than there are nodes
# description: >-
#   A node has every host port once, so at most one pod with that port runs on each eligible node and the pods
#   beyond stay Pending. Use a Service instead of the host port, or a DaemonSet, or lower the replicas.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.host_ports
	fact.verdict == "never"
	need := sprintf("%s ask for host port %s, which a node has once", [text.pods(fact, fact.pods), fact.port])
	message := text.line(fact.workload, array.flatten([
		need, text.eligible(fact), fact.excluded, text.pending(fact.pending), fact.growth,
	]))
}
