# METADATA
# title: A suppression without a reason
# description: >-
#   Whoever reads a suppression later has to know why the finding was accepted, to tell whether that still
#   holds. So one without a reason accepts nothing. Write the reason behind the name of the rule, and
#   perhaps until when it holds, as in until=2027-03-31.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-without-reason"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "without-reason"
	message := sprintf("the %s suppresses %s%s without a reason, so it does not count", [fact.by, fact.rule, about(fact.target)])
}

about("") := ""

about(target) := sprintf(" for %s", [target]) if target != ""
