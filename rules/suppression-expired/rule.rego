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
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "expired"
	message := sprintf("%s%s %s", [subject(fact), text.about(fact.target), term(fact)])
}

subject(fact) := "the baseline" if fact.by == "baseline"

subject(fact) := sprintf("the %s that suppresses %s", [fact.by, fact.rule]) if fact.by != "baseline"

term(fact) := sprintf("was valid until %s and no longer applies", [fact.until]) if fact.dated

term(fact) := sprintf("has no effect: until=%s is not a date such as 2027-03-31", [fact.until]) if not fact.dated
