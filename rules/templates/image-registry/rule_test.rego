package schedlint.rules["image-registry_test"]

import data.schedlint.rules["image-registry"] as subject

nginx := {"containers": [{"id": 2, "name": "web", "image": "nginx:1.27", "registry": "docker.io", "repository": "library/nginx", "tag": "1.27", "digest": ""}]}

bare := {"containers": [{"id": 2, "name": "web", "image": "nginx", "registry": "docker.io", "repository": "library/nginx", "tag": "", "digest": ""}]}

latest := {"containers": [{"id": 2, "name": "web", "image": "nginx:latest", "registry": "docker.io", "repository": "library/nginx", "tag": "latest", "digest": ""}]}

pinned := {"containers": [{"id": 2, "name": "web", "image": "nginx@sha256:0", "registry": "docker.io", "repository": "library/nginx", "tag": "", "digest": "sha256:0"}]}

open := {"containers": [{"id": 2, "name": "web", "image": "${IMAGE}", "registry": "", "repository": "", "tag": "", "digest": ""}]}

# messages gives what is said about the images.
messages(containers, params) := said if {
	defaults := {"params": {"registries": [], "latest": false, "digest": false}}
	workload := object.union({"id": 1, "ref": "Deployment shop/web"}, containers)
	given := object.union({"workloads": [workload]}, object.union(defaults, params))
	said := {r.said.message | some r in subject.report; r.fact == 2} with input as given
}

test_reports_a_registry if {
	messages(nginx, {"params": {"registries": ["ghcr.io"]}}) == {"Deployment shop/web: container web runs nginx:1.27 from docker.io; allowed: ghcr.io"}
}

test_reports_no_tag if messages(bare, {}) == {"Deployment shop/web: container web runs nginx without the tag of a version"}

test_reports_latest if count(messages(latest, {})) == 1

# A digest pins more than a tag, so a missing tag is not reported as well.
test_reports_no_digest if messages(bare, {"params": {"digest": true}}) == {"Deployment shop/web: container web runs nginx without a digest"}

test_passes if {
	messages(nginx, {}) == set()
	messages(nginx, {"params": {"registries": ["ghcr.io", "docker.io"]}}) == set()
	messages(nginx, {"params": {"registries": ["docker.io/library/*"]}}) == set()
	messages(pinned, {"params": {"digest": true}}) == set()
}

test_a_registry_is_no_path if count(messages(nginx, {"params": {"registries": ["*nginx"]}})) == 1

test_latest_by_parameter if {
	messages(bare, {"params": {"latest": true}}) == set()
	messages(latest, {"params": {"latest": true}}) == set()
}

test_a_digest_pins if messages(pinned, {}) == set()

test_unknown_is_silent if messages(open, {"params": {"registries": ["ghcr.io"], "digest": true}}) == set()
