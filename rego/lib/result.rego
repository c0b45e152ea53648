package schedlint.result

# reason reports a row in the words of the catalogue of messages: the chain says which rule
# speaks, the row says where the finding is, and the reason is the entry that words it.
reason(chain, row, reason) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"reason": reason,
}

# worded is reason for built-in rules that say more: an object with the reason and, if need
# be, values that the catalogue words in place of the row, the path of a field below the
# row and a level. With of_container: true the findings about the containers of a workload
# are reported as one.
worded(chain, row, given) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"given": given,
}

# finding reports a row in the words of a team's own rule: an object with a message, one line
# that is complete by itself, and if need be details, help, the path of a field below the
# row and a level.
finding(chain, row, said) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"said": said,
}
