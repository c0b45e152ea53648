package schedlint.text

# lines are a message and its details: the parts that say something, with the
# workload before the first.
lines(workload, parts) := array.concat([sprintf("%s: %s", [workload, said[0]])], array.slice(said, 1, count(said))) if {
	said := nonempty(parts)
}

# nonempty leaves out the parts that say nothing.
nonempty(parts) := [p | some p in parts; p != ""]

# number(1, "pod") is "1 pod", number(2, "pod") is "2 pods".
number(1, word) := sprintf("1 %s", [word])

number(n, word) := sprintf("%d %ss", [n, word]) if n != 1

# verb is the word that goes with n things.
verb(1, one, _) := one

verb(n, _, many) := many if n != 1

# names lists n things, of which only a few are named.
names(few, n) := concat(", ", few) if count(few) >= n

names(few, n) := sprintf("%s and %d more", [concat(", ", few), n - count(few)]) if count(few) < n

# aside puts what there is to add into parentheses.
aside("") := ""

aside(what) := sprintf(" (%s)", [what]) if what != ""

# few names up to three things.
few(things) := names(array.slice(things, 0, 3), count(things))

# rollout says how one ends, alongside which workloads, and at which size.
rollout(fact, fate) := sprintf("a rollout %s%s", [fate, aside(fact.at)]) if count(fact.others) == 0

rollout(fact, fate) := sprintf("a rollout %s alongside %s%s", [fate, few(fact.others), aside(fact.at)]) if {
	count(fact.others) > 0
}

# room says how many pods fit, and what limits them.
room(fact) := sprintf("%s because of %s", [space(fact.room), concat(" and ", fact.reasons)]) if count(fact.reasons) > 0

room(fact) := space(fact.room) if {
	count(fact.reasons) == 0
	fact.room != ""
} else := "" if count(fact.reasons) == 0

space("") := "no node can take another pod"

space(room) := sprintf("at most %s", [room]) if room != ""

# like says how many nodes or domains are equivalent to one.
like(0, _) := ""

like(1, word) := sprintf(" (or an equivalent %s)", [word])

like(n, word) := sprintf(" (or any of %d equivalent %ss)", [n, word]) if n > 1

# left says how many of a workload's pods stay Pending after a loss, or are not
# recreated.
left(fact) := sprintf("leaves %s %s", [share(fact.pending, fact.pods), lacking(fact)]) if fact.outcome == "never"

left(fact) := sprintf("can leave %s%s %s", [verb(fact.pending, "", "up to "), share(fact.pending, fact.pods), lacking(fact)]) if {
	fact.outcome == "sometimes"
}

lacking(fact) := {true: "Pending", false: "missing"}[object.get(fact, "recreated", true)]

# share is some of a workload's pods.
share(1, 1) := "its only pod"

share(n, all) := sprintf("%d of %s", [n, number(all, "pod")]) if n * all != 1
