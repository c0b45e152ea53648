# METADATA
# title: A pool that spans too few zones
# description: >-
#   The nodes of this pool are in fewer zones than the parameter zones requires, so the loss of a zone
#   takes a larger part of the pool, and workloads that are bound to the pool cannot spread further. Add
#   nodes in other zones. Pools that belong to one zone on purpose can be left out with except; pools
#   whose zones are unknown are not reported.
# related_resources:
#   - https://kubernetes.io/docs/setup/best-practices/multiple-zones/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [node-pools]
#   params:
#     type: object
#     properties:
#       zones:
#         description: number of zones that the nodes of a pool are in at least
#         type: integer
#         minimum: 1
#         default: 3
#       except:
#         description: globs of pools that the rule leaves out
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.pool-spans-too-few-zones"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "pool-spans-too-few-zones", "values": values}) if {
	some pool in input.pools
	not keys.listed(input.params.except, pool.name)
	count(pool.zones) > 0
	count(pool.zones) < input.params.zones
	values := {"pool": pool.name, "zones": pool.zones, "least": input.params.zones, "lacking": input.params.zones - count(pool.zones)}
}
