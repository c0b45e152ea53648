# METADATA
# title: A render is refused
# description: >-
#   Rendering this needs what schedlint does not do: use the network, run programs, read outside the
#   repository, or exceed a limit. Or it uses a copy that has changed since schedlint vendor wrote it.
#   What is deployed from it is not checked. Copy remote sources with schedlint vendor, or render with
#   your own tool and list the result under files.
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["render-refused"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "render-refused") if {
	some row in input.documents
	row.problem == "render-refused"
}
