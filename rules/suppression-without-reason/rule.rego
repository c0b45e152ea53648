# METADATA
# title: A suppression without a reason
# description: >-
#   Readers of a suppression need to know why the finding was accepted, to judge whether that is still true,
#   so a suppression without a reason has no effect. Write the reason after the rule id, optionally with an
#   expiry date such as until=2027-03-31.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-without-reason"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "without-reason"
	message := sprintf("the %s suppresses %s%s without a reason, so it has no effect", [fact.by, fact.rule, text.about(fact.target)])
}
