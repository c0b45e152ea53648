package schedlint.rules["vm-cannot-migrate_test"]

import data.schedlint.rules["vm-cannot-migrate"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"machines": 1,
	"evicts": true,
	"device": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"migrations": [row]}
}

test_reports if {
	subject.report == {{"rule": "vm-cannot-migrate", "fact": 1, "reason": "vm-cannot-migrate"}} with input as {"migrations": [bad]}
}

test_sometimes if reported(object.union(bad, {"outcome": "sometimes"})) == {"vm-cannot-migrate"}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_pools if reported(object.union(bad, {"machines": 3, "evicts": false})) == {"vm-cannot-migrate"}

disk := object.union(bad, {"device": "its hostDisk root is not shared"})

test_disk_blocks_drains if reported(disk) == {"vm-cannot-migrate"}

test_disk_without_eviction if reported(object.union(disk, {"evicts": false})) == set()

test_disk_unknown if reported(object.union(disk, {"outcome": "unknown"})) == set()
