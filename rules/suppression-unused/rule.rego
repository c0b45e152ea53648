# METADATA
# title: A suppression without a finding
# description: >-
#   The rule checked this object and found nothing, so the problem was fixed or moved. A stale suppression
#   would hide the next problem of this kind. Remove it. A suppression is not reported if the rule could not
#   decide, for example without a topology. An entry of unrendered in the configuration is stale if nothing
#   that is not rendered has its path or name.
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["suppression-unused"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "suppression-unused") if {
	some row in input.suppressions
	row.problem == "unused"
}
