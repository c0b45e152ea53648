package schedlint.result

# reason is what a built-in rule reports: the chain says which rule speaks, the row says
# where the finding is, and the reason is an entry of the catalogue of messages, which
# words the row.
reason(chain, row, reason) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"reason": reason,
}

# leveled is reason with a level that is not that of the rule.
leveled(chain, row, reason, level) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"reason": reason,
	"level": level,
}

# finding is what a rule reports in words of its own: an object with a message, one line
# that is complete by itself, and if need be details, help, the path of a field below the
# row and a level.
finding(chain, row, said) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"said": said,
}
