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
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), pool, {"message": message, "help": help}) if {
	some pool in input.pools
	not keys.listed(input.params.except, pool.name)
	count(pool.zones) > 0
	count(pool.zones) < input.params.zones
	what := [pool.name, text.number(count(pool.zones), "zone"), text.few(pool.zones), input.params.zones]
	message := sprintf("pool %s spans %s (%s); expected at least %d", what)
	help := sprintf("add nodes in %s", [text.number(input.params.zones - count(pool.zones), "other zone")])
}
