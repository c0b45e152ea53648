# METADATA
# title: A hard topology spread constraint leaves pods Pending
# description: >-
#   A pod is placed only where its domain then has at most maxSkew more pods than the emptiest eligible
#   domain. One domain that counts but cannot take pods, such as a tainted node under nodeTaintsPolicy Ignore,
#   holds all others down; too few domains for minDomains, or no node with all topology keys, does the same.
#   Set nodeTaintsPolicy to Honor, raise maxSkew, lower the replicas, or use ScheduleAnyway.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.spreads
	fact.verdict == "never"
	message := text.line(fact.workload, array.flatten([
		why(fact), fact.excluded, text.pending(fact.pending), fact.growth, text.meant(fact.suggestion),
	]))
}

why(fact) := sprintf("%s %s", [text.none_has(fact.eligible), labels(fact)]) if fact.cause == "missing-key"

labels(fact) := sprintf("the label %s", [fact.key]) if fact.keys == fact.key

labels(fact) := sprintf("all the labels of its hard constraints, %s", [fact.keys]) if fact.keys != fact.key

why(fact) := sprintf("minDomains asks for %d %s values and eligible nodes give %d, so each holds at most maxSkew %d and %d fit", [
	fact.min_domains, fact.key, fact.domains, fact.max_skew, fact.most,
]) if fact.cause == "min-domains"

why(fact) := sprintf("%s must spread over %s with maxSkew %d; %s can hold %d, so no domain may exceed %d and %d fit", [
	text.pods(fact, fact.pods), fact.key, fact.max_skew, fact.smallest_domain, fact.smallest,
	fact.smallest + fact.max_skew, fact.most,
]) if fact.cause == "skew"
