package schedlint.rules["require-term_test"]

import data.schedlint.rules["require-term"] as subject

web := {
	"id": 1,
	"ref": "Deployment shop/web",
	"known": true,
	"terms_known": true,
	"permanent": true,
	"pods_min": 3,
	"terms": [],
}

# findings are those about web after a change.
findings(change, params) := said if {
	defaults := {"params": {"use": "anti-affinity", "key": "node", "hard": true, "max_skew": 0, "min_pods": 2, "pods": []}}
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	said := {r.given | some r in subject.report} with input as given
}

found := {"reason": "require-term", "values": {"workload": "Deployment shop/web", "pods": 3, "use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname"}}

bare := {found}

test_reports if findings({}, {}) == bare

test_reports_spread if {
	findings({}, {"params": {"use": "spread", "key": "zone"}}) == {object.union(found, {"values": {"use": "spread", "key": "topology.kubernetes.io/zone"}})}
}

test_reports_preferred if {
	findings({}, {"params": {"hard": false}}) == {object.union(found, {"values": {"hard": false}})}
}

required := {"terms": [{"use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 0}]}

preferred := {"terms": [{"use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 0}]}

elsewhere := {"terms": [{"use": "anti-affinity", "hard": true, "key": "rack", "matches_own": "always", "max_skew": 0}]}

foreign := {"terms": [{"use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "never", "max_skew": 0}]}

skewed := {"terms": [{"id": 2, "use": "spread", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 2}]}

test_passes if findings(required, {}) == set()

test_preferred if {
	findings(preferred, {}) == bare
	findings(preferred, {"params": {"hard": false}}) == set()
	findings(required, {"params": {"hard": false}}) == set()
}

test_another_key if findings(elsewhere, {}) == bare

test_another_use if findings(skewed, {}) == bare

test_pods_of_others if findings(foreign, {}) == bare

test_max_skew if {
	findings(skewed, {"params": {"use": "spread"}}) == set()
	findings(skewed, {"params": {"use": "spread", "max_skew": 2}}) == set()
	findings(skewed, {"params": {"use": "spread", "max_skew": 1}}) == {too_uneven}
}

too_uneven := {"reason": "skew-too-large", "values": {"workload": "Deployment shop/web", "key": "kubernetes.io/hostname", "skew": 2, "limit": 1}, "path": ["maxSkew"]}

test_max_skew_of_one_term_is_enough if {
	both := {"terms": [{"id": 2, "use": "spread", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 2}, {"id": 2, "use": "spread", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 1}]}
	findings(both, {"params": {"use": "spread", "max_skew": 1}}) == set()
}

test_max_skew_of_few_pods if findings(object.union(skewed, {"pods_min": 1}), {"params": {"use": "spread", "max_skew": 1}}) == set()

test_max_skew_of_another_key if {
	zone := {"reason": "require-term", "values": {"workload": "Deployment shop/web", "pods": 3, "use": "spread", "hard": true, "key": "topology.kubernetes.io/zone"}}
	findings(skewed, {"params": {"use": "spread", "key": "zone", "max_skew": 1}}) == {zone}
}

test_few_pods_need_none if findings({"pods_min": 1}, {}) == set()

test_numbers_of_pods if {
	findings({}, {"params": {"pods": [3, 5]}}) == bare
	findings({"pods_min": 4}, {"params": {"pods": [3, 5]}}) == set()
}

test_finite_pods_need_none if findings({"permanent": false}, {}) == set()

test_unknown_is_silent if {
	findings({"known": false}, {}) == set()
	findings({"terms_known": false}, {}) == set()
}
