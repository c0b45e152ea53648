package schedlint.rules["upgrade.pod-without-controller_test"]

import data.schedlint.rules["upgrade.pod-without-controller"] as subject

pod := {"id": 1, "ref": "Pod shop/web", "kind": "Pod", "known": true, "bare": true, "permanent": true}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

test_reports if reported(pod) == {{"reason": "pod-without-controller", "values": {"workload": "Pod shop/web"}}}

test_passes if reported(object.union(pod, {"bare": false})) == set()

test_finite_pods if reported(object.union(pod, {"permanent": false})) == set()

test_machines if reported(object.union(pod, {"kind": "VirtualMachineInstance"})) == set()

test_unknown_is_silent if reported(object.union(pod, {"known": false, "bare": false})) == set()
