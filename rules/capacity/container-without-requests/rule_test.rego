package schedlint.rules["capacity.container-without-requests_test"]

import data.schedlint.rules["capacity.container-without-requests"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "namespace": "shop", "resources_known": true, "containers": [{"id": 2, "name": "web", "init": false, "requests": [], "limits": []}], "pod_level_requests": [], "pod_level_limits": []}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "objects": [], "params": {"resources": ["cpu", "memory"], "init_containers": false}}, others)
}

found := {"reason": "container-without-requests", "values": {"workload": "Deployment shop/web", "container": "web", "resources": ["cpu", "memory"]}, "path": ["resources", "requests"], "of_container": true}

test_reports if reported(web, {}) == {found}

test_reports_one if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": false, "requests": [{"resource": "cpu"}], "limits": []}]}), {}) == {object.union(found, {"values": {"resources": ["memory"]}})}

test_passes if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": false, "requests": [{"resource": "cpu"}, {"resource": "memory"}], "limits": []}]}), {}) == set()

test_limit_counts if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": false, "requests": [{"resource": "cpu"}], "limits": [{"resource": "memory"}]}]}), {}) == set()

test_request_of_the_pod_counts if reported(object.union(web, {"id": 1, "pod_level_requests": [{"resource": "cpu"}, {"resource": "memory"}]}), {}) == set()

test_limit_of_the_pod_counts if reported(object.union(web, {"pod_level_requests": [{"resource": "cpu"}], "pod_level_limits": [{"resource": "memory"}]}), {}) == set()

test_other_resources if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": false, "requests": [{"resource": "cpu"}], "limits": []}]}), {"params": {"resources": ["cpu"]}}) == set()

test_init_container if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": true, "requests": [], "limits": []}]}), {}) == set()

test_init_container_counts if reported(object.union(web, {"id": 1, "containers": [{"id": 2, "name": "web", "init": true, "requests": [], "limits": []}]}), {"params": {"init_containers": true}}) == {found}

test_limit_range if reported(object.union(web, {"id": 1, "defaulted": true}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"resources_known": false}), {}) == set()
