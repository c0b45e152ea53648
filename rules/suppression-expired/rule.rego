# METADATA
# title: A suppression whose last day is over
# description: >-
#   A suppression may say until when its reason holds. This one's day is over, so the findings that it
#   accepted are back. Mend them, or give a new reason and a new day. A day that cannot be read counts as
#   one that is over; it is written as in until=2027-03-31.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-expired"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "expired"
	message := sprintf("%s%s %s", [subject(fact), about(fact.target), term(fact)])
}

subject(fact) := "the baseline" if fact.by == "baseline"

subject(fact) := sprintf("the %s that suppresses %s", [fact.by, fact.rule]) if fact.by != "baseline"

term(fact) := sprintf("held until %s and does not count any more", [fact.until]) if fact.dated

term(fact) := sprintf("does not count: until=%s is no day as in 2027-03-31", [fact.until]) if not fact.dated

about("") := ""

about(target) := sprintf(" for %s", [target]) if target != ""
