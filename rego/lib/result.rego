package schedlint.result

# diagnostic is what a rule reports: the chain says which rule speaks, the fact
# says where the finding is, and the message is all that the rule adds.
diagnostic(chain, fact, message) := {
	"rule": chain[0].path[2],
	"fact": fact.id,
	"message": message,
}

# explained is a diagnostic of several lines: the first is the message, complete by
# itself, and the others are its details.
explained(chain, fact, lines) := object.union(
	diagnostic(chain, fact, lines[0]),
	{"details": array.slice(lines, 1, count(lines))},
)
