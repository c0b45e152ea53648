# METADATA
# title: A suppression that names no rule
# description: >-
#   A suppression accepts the findings of one rule about one object, and this one names a rule that does not
#   exist, so it accepts nothing. Mostly the name is misspelt; after an update the rule may have another
#   name, which the catalogue tells.
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
	message := sprintf("the %s%s %s", [fact.by, about(fact.target), names(fact)])
}

names(fact) := sprintf("suppresses %s, which is no rule%s", [fact.rule, text.hint(fact.suggestion)]) if fact.rule != ""

names(fact) := "suppresses something and does not name the rule" if fact.rule == ""

about("") := ""

about(target) := sprintf(" for %s", [target]) if target != ""
