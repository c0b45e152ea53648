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
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), container, {"message": message, "help": help, "path": ["image"]}) if {
	some workload in input.workloads
	some container in workload.containers
	container.registry != ""
	some problem, help in problems(container)
	message := sprintf("%s: container %s runs %s%s", [workload.ref, container.name, container.image, problem])
}

problems(c) := object.union_n([source(c), version(c), digest(c)])

source(c) := {sprintf(" from %s; allowed: %s", [c.registry, text.few(input.params.registries)]): "copy the image to an allowed registry" |
	count(input.params.registries) > 0
	every pattern in input.params.registries { not allows(pattern, c) }
}

allows(pattern, c) if glob.match(pattern, ["/"], c.registry)

allows(pattern, c) if glob.match(pattern, ["/"], sprintf("%s/%s", [c.registry, c.repository]))

digest(c) := {" without a digest": "add the digest" | c.digest == ""; input.params.digest}

version(c) := {" without the tag of a version": "set the tag of a version" | c.digest == ""; c.tag in {"", "latest"}; lenient == false}

# a missing tag is allowed, or reported as a missing digest
lenient := true in {input.params.latest, input.params.digest}
