package schedlint.outcome

# said is what a rule says of an outcome for result.finding: one of its messages, by outcome,
# and help where pods stay Pending. The unknown is a note, and only if it is asked for.
said(outcome, _, messages, help) := {"message": messages[outcome], "help": help} if outcome in {"sometimes", "never"}

said("unknown", true, messages, _) := {"message": messages.unknown, "level": "note"}
