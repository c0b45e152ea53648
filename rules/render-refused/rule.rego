# METADATA
# title: A render is refused
# description: >-
#   What is deployed is not judged, because building it needs what schedlint does not do: connect, execute, read outside
#   of the repository, or go beyond a limit. Vendor what comes from elsewhere and name its directory under remotes, or
#   render it with its own tool and name the result under files.
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["render-refused"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.documents
	fact.problem == "render-refused"
	message := sprintf("this is not rendered here: %s", [fact.detail])
}
