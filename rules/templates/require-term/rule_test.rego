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

# messages gives what is said about web after a change.
messages(change, params) := said if {
	defaults := {"params": {"use": "anti-affinity", "key": "node", "hard": true, "max_skew": 0, "min_pods": 2, "pods": []}}
	given := object.union({"workloads": [object.union(web, change)]}, object.union(defaults, params))
	said := {r.said.message | some r in subject.report} with input as given
}

bare := {"Deployment shop/web runs 3 pods without required anti-affinity on kubernetes.io/hostname between them"}

test_reports if messages({}, {}) == bare

test_reports_spread if {
	messages({}, {"params": {"use": "spread", "key": "zone"}}) == {"Deployment shop/web runs 3 pods without required topology spread on topology.kubernetes.io/zone between them"}
}

test_reports_preferred if {
	messages({}, {"params": {"hard": false}}) == {"Deployment shop/web runs 3 pods without anti-affinity on kubernetes.io/hostname between them"}
}

required := {"terms": [{"use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 0}]}

preferred := {"terms": [{"use": "anti-affinity", "hard": false, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 0}]}

elsewhere := {"terms": [{"use": "anti-affinity", "hard": true, "key": "rack", "matches_own": "always", "max_skew": 0}]}

foreign := {"terms": [{"use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "never", "max_skew": 0}]}

open := {"terms": [{"use": "anti-affinity", "hard": true, "key": "${KEY}", "matches_own": "always", "max_skew": 0}]}

skewed := {"terms": [{"use": "spread", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always", "max_skew": 2}]}

test_passes if messages(required, {}) == set()

test_preferred if {
	messages(preferred, {}) == bare
	messages(preferred, {"params": {"hard": false}}) == set()
	messages(required, {"params": {"hard": false}}) == set()
}

test_another_key if messages(elsewhere, {}) == bare

test_another_use if messages(skewed, {}) == bare

test_pods_of_others if messages(foreign, {}) == bare

test_max_skew if {
	messages(skewed, {"params": {"use": "spread"}}) == set()
	messages(skewed, {"params": {"use": "spread", "max_skew": 2}}) == set()
	count(messages(skewed, {"params": {"use": "spread", "max_skew": 1}})) == 1
}

test_few_pods_need_none if messages({"pods_min": 1}, {}) == set()

test_numbers_of_pods if {
	messages({}, {"params": {"pods": [3, 5]}}) == bare
	messages({"pods_min": 4}, {"params": {"pods": [3, 5]}}) == set()
}

test_finite_pods_need_none if messages({"permanent": false}, {}) == set()

test_unknown_is_silent if {
	messages({"known": false}, {}) == set()
	messages({"terms_known": false}, {}) == set()
	messages(open, {}) == set()
}
