# METADATA
# title: A suppression without a finding
# description: >-
#   The rule checked this object and found nothing, so the problem was fixed or moved. A stale suppression
#   would hide the next problem of this kind. Remove it. A suppression is not reported if the rule could not
#   decide, for example without a topology.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-unused"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "unused"
	message := sprintf("the %s suppresses %s%s, but the rule reports nothing there", [fact.by, fact.rule, text.about(fact.target)])
}
