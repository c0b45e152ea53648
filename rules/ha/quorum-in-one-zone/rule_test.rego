package schedlint.rules["ha.quorum-in-one-zone_test"]

import data.schedlint.rules["ha.quorum-in-one-zone"] as subject

etcd := {"id": 1, "ref": "StatefulSet data/etcd", "kind": "StatefulSet", "pods_min": 3, "in_one_zone_min": 1, "in_one_zone_max": 2, "labels": {"tier": "data"}, "pod_labels": {"app": "etcd"}}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"labels": [], "pods": [3, 5, 7]}}, others)
}

found := {"reason": "quorum-in-one-zone", "values": {"workload": "StatefulSet data/etcd", "down": 2, "pods": 3}}

test_reports if reported(etcd, {}) == {found}

test_half_is_no_majority if reported(object.union(etcd, {"pods_min": 4}), {"params": {"pods": [4]}}) == {object.union(found, {"values": {"pods": 4}})}

test_passes if reported(object.union(etcd, {"in_one_zone_max": 1}), {}) == set()

test_all_pods_are_left_to_another_rule if reported(object.union(etcd, {"in_one_zone_max": 3}), {}) == set()

test_other_numbers if reported(object.union(etcd, {"pods_min": 4}), {}) == set()

test_other_kinds if reported(object.union(etcd, {"kind": "Deployment"}), {}) == set()

test_label if reported(object.union(etcd, {"kind": "Deployment"}), {"params": {"labels": ["tier=data"]}}) == {found}

test_other_label if reported(etcd, {"params": {"labels": ["tier=web"]}}) == set()

test_unknown_is_silent if reported(object.union(etcd, {"in_one_zone_min": 0}), {}) == set()
