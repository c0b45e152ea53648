package schedlint.result

# diagnostic is what a rule reports: the chain says which rule speaks, the fact
# says where the finding is, and the message is all that the rule adds.
diagnostic(chain, fact, message) := {
	"rule": chain[0].path[2],
	"fact": fact.id,
	"message": message,
}
