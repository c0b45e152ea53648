package schedlint.rules["capacity.pool-short-after-loss_test"]

import data.schedlint.rules["capacity.pool-short-after-loss"] as subject

cpu := {"id": 1, "scope": "pool", "name": "gpu", "resource": "cpu", "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 8000, "percent_min": 90, "percent_max": 90, "left_max": 8000, "percent_grown_min": 90, "percent_grown_max": 90}, {"key": "kubernetes.io/hostname", "value": "n1", "like": 2, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}

# reported gives the messages about one capacity, with further input.
reported(capacity, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"capacity": [capacity], "pools": [], "cluster": {"nodes": 12}, "params": {"max_percent": 100, "resources": ["cpu", "memory"], "growing": false, "report_unknown": false, "keys": ["node"]}}, others)
}

test_reports if reported(cpu, {}) == {"pool gpu: without node n1 (the same for 2 more) pods request 130% of the cpu that is left (limit 100%)"}

test_passes if reported(cpu, {"params": {"max_percent": 150}}) == set()

test_cluster if reported(object.union(cpu, {"scope": "cluster"}), {}) == set()

test_only_pool_is_the_cluster if {
	reported(cpu, {"pools": [{"name": "gpu", "count": 12, "max": 12}]}) == set()
	reported(cpu, {"pools": [{"name": "gpu", "count": 11, "max": 11}]}) == reported(cpu, {})
	reported(cpu, {"pools": [{"name": "gpu", "count": 12, "max": 12}, {"name": "general", "count": 0, "max": 3}]}) == reported(cpu, {})
}

test_other_resource if reported(object.union(cpu, {"resource": "pods"}), {}) == set()

test_zone_is_left_out if reported(object.union(cpu, {"id": 1, "losses": [{"key": "topology.kubernetes.io/zone", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}), {}) == set()

test_zone if reported(object.union(cpu, {"id": 1, "losses": [{"key": "topology.kubernetes.io/zone", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}), {"params": {"keys": ["node", "zone"]}}) == {"pool gpu: without zone n0 pods request 130% of the cpu that is left (limit 100%)"}

# growing is a row where a pool can grow.
growing(least) := object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 8000, "percent_grown_min": least, "percent_grown_max": 120}]})

test_growing if reported(growing(90), {}) == set()

test_growing_is_too_small if reported(growing(110), {}) == {"pool gpu: without node n0 pods request 110% of the cpu that is left with all pools at their largest size (limit 100%)"}

test_growing_may_be_too_small if reported(growing(90), {"params": {"report_unknown": true}}) == {"pool gpu: without node n0 pods may request more than 100% of the cpu that is left with all pools at their largest size"}

test_declared_nodes if reported(growing(90), {"params": {"growing": true}}) == {"pool gpu: without node n0 pods request 130% of the cpu that is left (limit 100%)"}

test_unknown_is_silent if reported(object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 90, "percent_max": 150, "left_max": 4000, "percent_grown_min": 90, "percent_grown_max": 150}]}), {}) == set()

test_unknown if reported(object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 90, "percent_max": 150, "left_max": 4000, "percent_grown_min": 90, "percent_grown_max": 150}]}), {"params": {"report_unknown": true}}) == {"pool gpu: without node n0 pods may request more than 100% of the cpu that is left"}
