# METADATA
# title: An expired suppression
# description: >-
#   A suppression can have an expiry date. This one has passed, so the findings that it accepted are
#   reported again. Fix them, or renew the suppression with a new reason and date. A date that cannot be
#   parsed counts as expired; write it as until=2027-03-31.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-expired"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "suppression-expired") if {
	some row in input.suppressions
	row.problem == "expired"
}
