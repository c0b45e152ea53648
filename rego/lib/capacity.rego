package schedlint.capacity

import data.schedlint.keys
import data.schedlint.outcome

# worst is the loss of a node, or of a zone, that leaves least for what pods request, in
# numbers of the declared nodes, or else of pools at their largest size.
worst(row, key, declared) := [number | some number in all; number.least == most][0] if {
	all := [numbers(loss, declared) | some loss in row.losses; loss.key == key]
	most := max([number.least | some number in all])
}

# numbers are those of a loss, and whether they are of pools that have grown.
numbers(loss, true) := {"loss": loss, "least": loss.percent_min, "most": loss.percent_max, "left": loss.left, "grown": false}

numbers(loss, false) := {"loss": loss, "least": loss.percent_grown_min, "most": loss.percent_grown_max, "left": loss.left_max, "grown": loss.left_max > loss.left}

# told is what a rule tells of the numbers of a loss for result.worded: nothing if what is
# left is enough, a note, if that is asked for, where it may not be. The cluster has no name.
told(name, row, numbers, params) := outcome.told(short, params.report_unknown, {"reason": "short-after-loss", "values": {
	"outcome": short, "scope": row.scope, "name": name, "resource": row.resource, "limit": params.max_percent,
	"kind": keys.kind(numbers.loss.key), "domain": numbers.loss.value, "like": numbers.loss.like,
	"percent": numbers.least, "some_left": numbers.left > 0, "grown": numbers.grown,
}}) if {
	short := shortage(numbers, params.max_percent)
}

shortage(numbers, limit) := "never" if numbers.least > limit

shortage(numbers, limit) := "unknown" if {
	numbers.least <= limit
	numbers.most > limit
}
