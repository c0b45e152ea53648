package schedlint.outcome

# told is what a rule tells of an outcome for result.worded: nothing if all is well. The
# unknown is a note, and only if it is asked for.
told(outcome, _, given) := given if outcome in {"sometimes", "never"}

told("unknown", true, given) := object.union(given, {"level": "note"})
