package schedlint.rules["ha.preferred-spread-only_test"]

import data.schedlint.rules["ha.preferred-spread-only"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "permanent": true, "pods_min": 3, "on_one_node_min": 0, "on_one_node_max": 3, "in_one_zone_min": 0, "in_one_zone_max": 3, "terms": [{"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}], "labels": {"tier": "critical"}, "pod_labels": {"app": "web"}}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"labels": [], "min_pods": 2}}, others)
}

found := {"reason": "preferred-spread-only", "values": {"workload": "Deployment shop/web", "pods": 3, "key": "kubernetes.io/hostname"}}

test_reports if reported(web, {}) == {found}

test_spread if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "spread", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}]}), {}) == {found}

test_passes if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}, {"id": 3, "use": "spread", "hard": true, "key": "topology.kubernetes.io/zone", "matches_own": "always"}]}), {}) == set()

test_no_rule if reported(object.union(web, {"id": 1, "terms": []}), {}) == set()

test_affinity if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}]}), {}) == set()

test_hard_affinity_keeps_nothing_apart if reported(object.union(web, {"id": 1, "terms": [{"id": 3, "use": "affinity", "hard": true, "key": "topology.kubernetes.io/zone", "matches_own": "always"}, {"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}]}), {}) == {found}

test_rule_about_others if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "never"}]}), {}) == set()

test_hard_rule_about_others if reported(object.union(web, {"id": 1, "terms": [{"id": 3, "use": "spread", "hard": true, "key": "topology.kubernetes.io/zone", "matches_own": "never"}, {"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}]}), {}) == {found}

test_other_findings if {
	reported(object.union(web, {"on_one_node_min": 1}), {}) == set()
	reported(object.union(web, {"in_one_zone_min": 1}), {}) == set()
	reported(object.union(web, {"on_one_node_min": 1, "on_one_node_max": 2, "in_one_zone_min": 1, "in_one_zone_max": 2}), {}) == {found}
}

test_finite_pods if reported(object.union(web, {"permanent": false}), {}) == set()

test_few_pods if reported(web, {"params": {"min_pods": 4}}) == set()

test_label if reported(web, {"params": {"labels": ["tier=critical"]}}) == {found}

test_label_of_pods if reported(web, {"params": {"labels": ["tier=data", "app=web"]}}) == {found}

test_other_label if reported(web, {"params": {"labels": ["tier=data"]}}) == set()

test_unknown_is_silent if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "unknown"}]}), {}) == set()

test_unknown_hard_rule_is_silent if reported(object.union(web, {"id": 1, "terms": [{"id": 2, "use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always"}, {"id": 3, "use": "spread", "hard": true, "key": "topology.kubernetes.io/zone", "matches_own": "unknown"}]}), {}) == set()
