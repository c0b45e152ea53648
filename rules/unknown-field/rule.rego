# METADATA
# title: A field that the API does not have
# description: >-
#   The API server drops fields that it does not know, unless the client asks for strict validation, so what
#   the manifest says there never reaches the scheduler. Mostly a name is misspelt or stands at the wrong
#   depth.
# related_resources:
#   - https://kubernetes.io/docs/reference/using-api/api-concepts/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["unknown-field"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.unknown_fields
	what := sprintf("field %s does not exist and is dropped", [fact.field])
	lines := text.nonempty([what, text.meant(fact.suggestion)])
}
