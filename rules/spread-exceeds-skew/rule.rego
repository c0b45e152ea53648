# METADATA
# title: A hard topologySpreadConstraint leaves pods Pending
# description: >-
#   A pod is scheduled only where its domain then has at most maxSkew more pods than the emptiest eligible
#   domain. A domain that counts but cannot take pods, such as a tainted node with nodeTaintsPolicy: Ignore,
#   limits all others; so do too few domains for minDomains, and a topology key that no node has. Set
#   nodeTaintsPolicy: Honor, raise maxSkew, run fewer replicas, or use ScheduleAnyway.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["spread-exceeds-skew"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.spreads
	fact.outcome == "never"
	lines := text.lines(fact.workload, array.flatten([
		why(fact), text.smallest(fact), fact.excluded, text.pending(fact.pending), fact.growth, text.meant(fact.suggestion),
	]))
}

why(fact) := sprintf("%s %s", [text.none_has(fact.eligible), labels(fact)]) if fact.cause == "missing-key"

why(fact) := sprintf("minDomains requires %d %s values, but eligible nodes have %d, so each takes at most maxSkew %d and only %d %s", [
	fact.min_domains, fact.key, fact.domains, fact.max_skew, fact.most, text.verb(fact.most, "fits", "fit"),
]) if fact.cause == "min-domains"

why(fact) := sprintf("%s must spread over %s with maxSkew %d, but only %d %s", [
	text.pods(fact, fact.pods), fact.key, fact.max_skew, fact.most, text.verb(fact.most, "fits", "fit"),
]) if fact.cause == "skew"

labels(fact) := sprintf("the label %s", [fact.key]) if fact.keys == fact.key

labels(fact) := sprintf("all topology keys of its hard constraints (%s)", [fact.keys]) if fact.keys != fact.key
