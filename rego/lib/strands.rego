package schedlint.strands

# severe reports whether the pods that wait for their volumes are all pods of the workload, so
# many that a majority is lost, or so many that a disruption budget allows no further evictions.
severe(row) if {
	row.pods >= 2
	row.pending_max >= row.pods
}

severe(row) if {
	row.pods >= 3
	2 * row.pending_max >= row.pods
}

severe(row) if row.blocks

# lowered adds the level of a note to what a rule says of a row that is as designed.
lowered(row, given) := given if severe(row)

else := object.union(given, {"level": "note"})
