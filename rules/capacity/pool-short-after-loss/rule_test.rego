package schedlint.rules["capacity.pool-short-after-loss_test"]

import data.schedlint.rules["capacity.pool-short-after-loss"] as subject

cpu := {"id": 1, "scope": "pool", "name": "gpu", "resource": "cpu", "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 8000, "percent_min": 90, "percent_max": 90, "left_max": 8000, "percent_grown_min": 90, "percent_grown_max": 90}, {"key": "kubernetes.io/hostname", "value": "n1", "like": 2, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}

# reported gives the findings about one capacity, with further input.
reported(capacity, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"capacity": [capacity], "pools": [], "cluster": {"nodes": 12}, "params": {"max_percent": 100, "resources": ["cpu", "memory"], "growing": false, "report_unknown": false, "keys": ["node"]}}, others)
}

found := {"reason": "short-after-loss", "values": {"outcome": "never", "scope": "pool", "name": "gpu", "resource": "cpu", "limit": 100, "kind": "node", "domain": "n1", "like": 2, "percent": 130, "some_left": true, "grown": false}}

test_reports if reported(cpu, {}) == {found}

test_passes if reported(cpu, {"params": {"max_percent": 150}}) == set()

test_cluster if reported(object.union(cpu, {"scope": "cluster"}), {}) == set()

test_only_pool_is_the_cluster if {
	reported(cpu, {"pools": [{"name": "gpu", "count": 12, "max": 12}]}) == set()
	reported(cpu, {"pools": [{"name": "gpu", "count": 11, "max": 11}]}) == reported(cpu, {})
	reported(cpu, {"pools": [{"name": "gpu", "count": 12, "max": 12}, {"name": "general", "count": 0, "max": 3}]}) == reported(cpu, {})
}

test_other_resource if reported(object.union(cpu, {"resource": "pods"}), {}) == set()

test_zone_is_left_out if reported(object.union(cpu, {"id": 1, "losses": [{"key": "topology.kubernetes.io/zone", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}), {}) == set()

test_zone if reported(object.union(cpu, {"id": 1, "losses": [{"key": "topology.kubernetes.io/zone", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 4000, "percent_grown_min": 130, "percent_grown_max": 150}]}), {"params": {"keys": ["node", "zone"]}}) == {object.union(found, {"values": {"kind": "zone", "domain": "n0", "like": 0}})}

# growing is a row where a pool can grow.
growing(least) := object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 130, "percent_max": 150, "left_max": 8000, "percent_grown_min": least, "percent_grown_max": 120}]})

test_growing if reported(growing(90), {}) == set()

test_growing_is_too_small if reported(growing(110), {}) == {object.union(found, {"values": {"domain": "n0", "like": 0, "percent": 110, "grown": true}})}

test_growing_may_be_too_small if reported(growing(90), {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown", "domain": "n0", "like": 0, "percent": 90, "grown": true}, "level": "note"})}

test_declared_nodes if reported(growing(90), {"params": {"growing": true}}) == {object.union(found, {"values": {"domain": "n0", "like": 0}})}

test_unknown_is_silent if reported(object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 90, "percent_max": 150, "left_max": 4000, "percent_grown_min": 90, "percent_grown_max": 150}]}), {}) == set()

test_unknown if reported(object.union(cpu, {"id": 1, "losses": [{"key": "kubernetes.io/hostname", "value": "n0", "like": 0, "left": 4000, "percent_min": 90, "percent_max": 150, "left_max": 4000, "percent_grown_min": 90, "percent_grown_max": 150}]}), {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown", "domain": "n0", "like": 0, "percent": 90}, "level": "note"})}
