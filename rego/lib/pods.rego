package schedlint.pods

import data.schedlint.machines

# path returns the path of a pod spec field in a workload.
path(workload, field) := machines.path(workload.kind, field) if workload.machine.is

path(workload, field) := ["spec", field] if workload.kind == "Pod"

path(workload, field) := ["spec", "jobTemplate", "spec", "template", "spec", field] if workload.kind == "CronJob"

path(workload, field) := ["spec", "template", "spec", field] if {
	not workload.machine.is
	not workload.kind in {"Pod", "CronJob"}
}
