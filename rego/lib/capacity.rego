package schedlint.capacity

import data.schedlint.loss as losses

# worst is the loss of a node, or of a zone, that leaves least for what pods request.
worst(row, key) := [loss | some loss in all; loss.percent_min == most][0] if {
	all := [loss | some loss in row.losses; loss.key == key]
	most := max([loss.percent_min | some loss in all])
}

# said is what a rule says of a loss for result.finding: nothing if what is left is enough,
# a note, if that is asked for, where it may not be.
said(where, row, loss, params) := {"message": message, "help": "add a node, or lower the requests"} if {
	loss.percent_min > params.max_percent
	message := sprintf("%s: without %s pods request %s (limit %d%%)", [where, losses.lost(loss), part(row, loss), params.max_percent])
}

said(where, row, loss, params) := {"message": message, "level": "note"} if {
	params.report_unknown
	loss.percent_min <= params.max_percent
	loss.percent_max > params.max_percent
	message := sprintf("%s: without %s pods may request more than %d%% of the %s that is left", [where, losses.lost(loss), params.max_percent, row.resource])
}

# part is how much pods request of what is left.
part(row, loss) := sprintf("%s, and none is left", [row.resource]) if loss.left == 0

part(row, loss) := sprintf("%d%% of the %s that is left", [loss.percent_min, row.resource]) if loss.left > 0
