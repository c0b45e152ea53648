# METADATA
# title: A suppression of an unknown rule
# description: >-
#   A suppression accepts the findings of one rule about one object. This one names a rule that does not
#   exist, so it has no effect. Usually the name is misspelled, or the rule was renamed; the catalogue lists
#   all rules.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-names-no-rule"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.suppressions
	fact.problem == "names-no-rule"
	message := sprintf("the %s%s %s", [fact.by, text.about(fact.target), names(fact)])
}

names(fact) := sprintf("suppresses %s, which is not a rule%s", [fact.rule, text.hint(fact.suggestion)]) if fact.rule != ""

names(fact) := "does not name the rule to suppress" if fact.rule == ""
