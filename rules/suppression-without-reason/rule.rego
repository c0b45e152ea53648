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

report contains result.reason(rego.metadata.chain(), row, "suppression-without-reason") if {
	some row in input.suppressions
	row.problem == "without-reason"
}
