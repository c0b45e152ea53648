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

report contains result.reason(rego.metadata.chain(), row, "suppression-names-no-rule") if {
	some row in input.suppressions
	row.problem == "names-no-rule"
}
