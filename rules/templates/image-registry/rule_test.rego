package schedlint.rules["image-registry_test"]

import data.schedlint.rules["image-registry"] as subject

nginx := {"containers": [{"id": 2, "name": "web", "image": "nginx:1.27", "registry": "docker.io", "repository": "library/nginx", "tag": "1.27", "digest": ""}]}

bare := {"containers": [{"id": 2, "name": "web", "image": "nginx", "registry": "docker.io", "repository": "library/nginx", "tag": "", "digest": ""}]}

latest := {"containers": [{"id": 2, "name": "web", "image": "nginx:latest", "registry": "docker.io", "repository": "library/nginx", "tag": "latest", "digest": ""}]}

pinned := {"containers": [{"id": 2, "name": "web", "image": "nginx@sha256:0", "registry": "docker.io", "repository": "library/nginx", "tag": "", "digest": "sha256:0"}]}

open := {"containers": [{"id": 2, "name": "web", "image": "${IMAGE}", "registry": "", "repository": "", "tag": "", "digest": ""}]}

# findings are those about the images.
findings(containers, params) := said if {
	defaults := {"params": {"registries": [], "latest": false, "digest": false}}
	workload := object.union({"id": 1, "ref": "Deployment shop/web"}, containers)
	given := object.union({"workloads": [workload]}, object.union(defaults, params))
	said := {r.given | some r in subject.report; r.fact == 2} with input as given
}

found := {"reason": "image-of-other-registry", "values": {"workload": "Deployment shop/web", "container": "web", "image": "nginx:1.27", "registry": "docker.io", "allowed": ["ghcr.io"]}, "path": ["image"]}

test_reports_a_registry if {
	findings(nginx, {"params": {"registries": ["ghcr.io"]}}) == {found}
}

test_reports_no_tag if findings(bare, {}) == {{"reason": "image-without-version", "values": {"workload": "Deployment shop/web", "container": "web", "image": "nginx"}, "path": ["image"]}}

test_reports_latest if count(findings(latest, {})) == 1

# A digest pins more than a tag, so a missing tag is not reported as well.
test_reports_no_digest if findings(bare, {"params": {"digest": true}}) == {{"reason": "image-without-digest", "values": {"workload": "Deployment shop/web", "container": "web", "image": "nginx"}, "path": ["image"]}}

test_passes if {
	findings(nginx, {}) == set()
	findings(nginx, {"params": {"registries": ["ghcr.io", "docker.io"]}}) == set()
	findings(nginx, {"params": {"registries": ["docker.io/library/*"]}}) == set()
	findings(pinned, {"params": {"digest": true}}) == set()
}

test_a_registry_is_no_path if count(findings(nginx, {"params": {"registries": ["*nginx"]}})) == 1

test_latest_by_parameter if {
	findings(bare, {"params": {"latest": true}}) == set()
	findings(latest, {"params": {"latest": true}}) == set()
}

test_a_digest_pins if findings(pinned, {}) == set()

test_unknown_is_silent if {
	findings(open, {"params": {"registries": ["ghcr.io"], "digest": true}}) == set()
	findings(open, {}) == set()
}
