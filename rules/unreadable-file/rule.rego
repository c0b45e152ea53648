# METADATA
# title: A file cannot be read
# description: >-
#   The file cannot be read, so its workloads are not checked and the run would look cleaner than it is.
#   Correct the permissions, split the file if it exceeds a limit, or leave it out of the run.
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["unreadable-file"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "unreadable-file") if {
	some row in input.documents
	row.problem == "unreadable-file"
}
