# METADATA
# title: A suppression that finds nothing to accept
# description: >-
#   The rule has looked at what the suppression is about and found nothing, so the fault is mended or has
#   moved. A suppression that is left behind would silence the next fault of that kind unseen. Remove it.
#   Where the rule could not decide, as without a topology, a suppression is not complained of.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-unused"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "unused"
	message := sprintf("the %s suppresses %s%s, which finds nothing there", [fact.by, fact.rule, about(fact.target)])
}

about("") := ""

about(target) := sprintf(" for %s", [target]) if target != ""
