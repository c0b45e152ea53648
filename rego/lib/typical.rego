package schedlint.typical

# lowered adds to what a rule says of a row the level of a note, if fewer than 5 % of the
# simulated runs show it. A run that leaves it open because of preemption counts as one that
# does.
lowered(row, given) := object.union(given, {"level": "note"}) if rare(row.typical)

else := given

rare(typical) if {
	typical.runs >= 20
	(typical.shown + typical.preempts) * 20 < typical.runs
}
