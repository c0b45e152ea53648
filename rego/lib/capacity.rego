package schedlint.capacity

import data.schedlint.loss as losses

# worst is the loss of a node, or of a zone, that leaves least for what pods request, in
# numbers of the declared nodes, or else of pools at their largest size.
worst(row, key, declared) := [number | some number in all; number.least == most][0] if {
	all := [numbers(loss, declared) | some loss in row.losses; loss.key == key]
	most := max([number.least | some number in all])
}

# numbers are those of a loss, with what to say of the size of the pools.
numbers(loss, true) := {"lost": losses.lost(loss), "least": loss.percent_min, "most": loss.percent_max, "left": loss.left, "size": ""}

numbers(loss, false) := {"lost": losses.lost(loss), "least": loss.percent_grown_min, "most": loss.percent_grown_max, "left": loss.left_max, "size": size} if {
	size := {true: " with all pools at their largest size", false: ""}[loss.left_max > loss.left]
}

# said is what a rule says of a loss for result.finding: nothing if what is left is enough,
# a note, if that is asked for, where it may not be.
said(where, row, loss, params) := {"message": message, "help": "add a node, or lower the requests"} if {
	loss.least > params.max_percent
	message := sprintf("%s: without %s pods request %s%s (limit %d%%)", [where, loss.lost, part(row, loss), loss.size, params.max_percent])
}

said(where, row, loss, params) := {"message": message, "level": "note"} if {
	params.report_unknown
	loss.least <= params.max_percent
	loss.most > params.max_percent
	message := sprintf("%s: without %s pods may request more than %d%% of the %s that is left%s", [where, loss.lost, params.max_percent, row.resource, loss.size])
}

# part is how much pods request of what is left.
part(row, loss) := sprintf("%s, and none is left", [row.resource]) if loss.left == 0

part(row, loss) := sprintf("%d%% of the %s that is left", [loss.least, row.resource]) if loss.left > 0
