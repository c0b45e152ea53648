package schedlint.result

# reason is what a built-in rule reports: the chain says which rule speaks, the row says
# where the finding is, and the reason is an entry of the catalogue of messages, which
# words the row.
reason(chain, row, reason) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"reason": reason,
}

# diagnostic is what a rule reports with a message of its own.
diagnostic(chain, row, message) := {
	"rule": chain[0].path[2],
	"fact": row.id,
	"message": message,
}

# explained is a diagnostic of several lines: the first is the message, complete by
# itself, and the others are its details.
explained(chain, row, lines) := object.union(
	diagnostic(chain, row, lines[0]),
	{"details": array.slice(lines, 1, count(lines))},
)
