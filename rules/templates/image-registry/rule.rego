# METADATA
# title: An image of an unwanted registry, or one that is not pinned
# description: >-
#   An image of a foreign registry may be slow, rate-limited or gone when a pod starts on another node. An
#   image without a tag, or with the tag latest, can change between two starts, so that the pods of one
#   workload run different programs. Copy it to an own registry, and pin a version or a digest. Images with a
#   variable are not judged.
# related_resources:
#   - https://kubernetes.io/docs/concepts/containers/images/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     properties:
#       registries:
#         description: >-
#           allowed registries, or registries with repositories, as globs where * does not match a slash and **
#           does, such as *.example.com or ghcr.io/acme/**; none for all. The registry of nginx is docker.io
#         type: array
#         items: {type: string}
#         default: []
#       latest:
#         description: whether an image may have the tag latest, or no tag
#         type: boolean
#         default: false
#       digest:
#         description: whether an image needs a digest
#         type: boolean
#         default: false
package schedlint.rules["image-registry"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), container, {"reason": "image-of-other-registry", "values": values, "path": ["image"]}) if {
	count(input.params.registries) > 0
	some workload in input.workloads
	some container in workload.containers
	container.registry != ""
	every pattern in input.params.registries { not allows(pattern, container) }
	values := object.union(image(workload, container), {"registry": container.registry, "allowed": input.params.registries})
}

report contains result.worded(rego.metadata.chain(), container, {"reason": "image-without-version", "values": image(workload, container), "path": ["image"]}) if {
	not input.params.latest
	not input.params.digest # a missing tag is then a missing digest
	some workload in input.workloads
	some container in workload.containers
	container.registry != ""
	container.digest == ""
	container.tag in {"", "latest"}
}

report contains result.worded(rego.metadata.chain(), container, {"reason": "image-without-digest", "values": image(workload, container), "path": ["image"]}) if {
	input.params.digest
	some workload in input.workloads
	some container in workload.containers
	container.registry != ""
	container.digest == ""
}

image(workload, container) := {"workload": workload.ref, "container": container.name, "image": container.image}

allows(pattern, container) if glob.match(pattern, ["/"], container.registry)

allows(pattern, container) if glob.match(pattern, ["/"], concat("/", [container.registry, container.repository]))
