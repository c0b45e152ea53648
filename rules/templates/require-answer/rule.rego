# METADATA
# title: A workload does not pass a scheduling check that it has to pass
# description: >-
#   The answer to a question about the workload has to be "always", as schedlint place prints it: all pods
#   fit, a rollout completes, any node can be drained, machines migrate, the maximum of the autoscaler fits,
#   or the loss of a node or a zone does no harm. The latter has two meanings: all pods run again afterwards,
#   and some pod keeps running meanwhile.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   asks: [{survive: {param: key}}]
#   params:
#     type: object
#     required: [answer]
#     properties:
#       answer:
#         description: the question, as one of the answers that schedlint place prints
#         type: string
#         enum: [fits, rolls, drains, migrates, autoscales, survives]
#       key:
#         description: what is lost if the answer is survives, as node, zone, region or the key of a node label
#         type: string
#         default: zone
#       meaning:
#         description: >-
#           what surviving means: all pods run again afterwards, some pod keeps running meanwhile (for node
#           and zone only), or both
#         type: string
#         enum: [afterwards, meanwhile, both]
#         default: both
#       unreachable:
#         description: whether pods also have to run again while the lost nodes are only unreachable
#         type: boolean
#         default: false
#       report_unknown:
#         description: whether to report answers that are unknown, as notes
#         type: boolean
#         default: false
package schedlint.rules["require-answer"]

import data.schedlint.keys
import data.schedlint.outcome
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, given) if {
	some workload in input.workloads
	answer := workload.answers[input.params.answer] # that of survives is a list, not an outcome
	given := told(workload, settled(workload, answer), input.params.answer)
}

report contains result.worded(rego.metadata.chain(), workload, given) if {
	some workload in input.workloads
	workload.permanent
	some survival in workload.answers.survives
	survival.key == lost
	some loss in losses
	given := told(workload, survival[loss], "afterwards")
}

report contains result.worded(rego.metadata.chain(), workload, given) if {
	input.params.meaning != "afterwards"
	some workload in input.workloads
	workload.permanent
	given := told(workload, meanwhile(workload, lost), "meanwhile")
}

# settled replaces "none" by "never" for pods that never all fit.
settled(_, answer) := answer if answer != "none"

settled(workload, "none") := "never" if {
	input.params.answer in {"rolls", "drains"}
	[workload.answers.fits, workload.per_node] == ["never", false] # no drain evicts DaemonSet pods
}

# lost is the topology key of what is lost, if the question is about a loss.
lost := keys.topology(input.params.key) if input.params.answer == "survives"

losses contains "gone" if input.params.meaning != "meanwhile"

losses contains "unreachable" if input.params.unreachable

# meanwhile is whether some pod keeps running while a node, or a zone, is lost.
meanwhile(w, "kubernetes.io/hostname") := together(w.on_one_node_min, w.on_one_node_max, w.pods_min)

meanwhile(w, "topology.kubernetes.io/zone") := together(w.in_one_zone_min, w.in_one_zone_max, w.pods_min)

# together is unknown where nothing is proved of how many pods share a node or a zone.
together(0, _, _) := "unknown"

together(least, pods, pods) := "sometimes" if least > 0

told(workload, answer, claim) := outcome.told(answer, input.params.report_unknown, {"reason": "require-answer", "values": {
	"outcome": answer, "workload": workload.ref, "pods": pods(workload), "claim": claim, "lost": input.params.key,
}})

# pods is 0 if an autoscaler changes the number, as the answer is about several numbers.
pods(workload) := workload.pods_min if workload.pods_min == workload.pods_max

pods(workload) := 0 if workload.pods_min != workload.pods_max
