package schedlint.labels

# counts reports whether a workload is one of those that a rule is about: if it, or its pods,
# carry one of some labels, written key=value, or if there are none.
counts(_, wanted) if count(wanted) == 0

counts(workload, wanted) if carries(workload, wanted)

# carries reports whether a workload, or its pods, carry one of some labels.
carries(workload, wanted) if {
	some label in wanted
	[key, value] := split(label, "=")
	some labels in [workload.labels, workload.pod_labels]
	labels[key] == value
}
