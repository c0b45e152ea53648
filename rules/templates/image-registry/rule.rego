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

report contains result.worded(rego.metadata.chain(), container, {"reason": reason, "values": object.union(image, more), "path": ["image"]}) if {
	some workload in input.workloads
	some container in workload.containers
	container.registry != ""
	some reason, more in object.union_n([source(container), version(container), digest(container)])
	image := {"workload": workload.ref, "container": container.name, "image": container.image}
}

source(c) := {"image-of-other-registry": {"registry": c.registry, "allowed": input.params.registries} |
	count(input.params.registries) > 0
	every pattern in input.params.registries { not allows(pattern, c) }
}

allows(pattern, c) if glob.match(pattern, ["/"], c.registry)

allows(pattern, c) if glob.match(pattern, ["/"], concat("/", [c.registry, c.repository]))

digest(c) := {"image-without-digest": {} | c.digest == ""; input.params.digest}

version(c) := {"image-without-version": {} | c.digest == ""; c.tag in {"", "latest"}; lenient == false}

# a missing tag is allowed, or reported as a missing digest
lenient := true in {input.params.latest, input.params.digest}
