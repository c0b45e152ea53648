package schedlint.text

# line is a whole message: the workload first, then the parts that say something.
line(workload, parts) := sprintf("%s: %s", [workload, concat("; ", [p | some p in parts; p != ""])])

# number(1, "pod") is "1 pod", number(2, "pod") is "2 pods".
number(1, word) := sprintf("1 %s", [word])

number(n, word) := sprintf("%d %ss", [n, word]) if n != 1

# verb is the word that goes with n things.
verb(1, one, _) := one

verb(n, _, many) := many if n != 1

# pods counts the pods of a workload by the word that its kind uses.
pods(fact, n) := number(n, object.get(
	{"CronJob": "pod", "DaemonSet": "pod", "Job": "pod", "Pod": "pod"},
	split(fact.workload, " ")[0], "replica",
))

# pending says how many pods never start, where that is known.
pending(0) := ""

pending(n) := sprintf("%s %s Pending", [number(n, "pod"), verb(n, "stays", "stay")]) if n != 0

# eligible says how many nodes count.
eligible(fact) := sprintf("all %d nodes are eligible", [fact.nodes]) if {
	fact.nodes > 1
	fact.eligible == fact.nodes
} else := sprintf("%d of %s %s eligible", [fact.eligible, number(fact.nodes, "node"), verb(fact.eligible, "is", "are")])

# meant asks back when a name looks misspelt.
meant("") := ""

meant(name) := sprintf("did you mean %s?", [name]) if name != ""

# hint is the same question inside a sentence.
hint("") := ""

hint(name) := sprintf(" (did you mean %s?)", [name]) if name != ""

# none_has starts a sentence about a label that no usable node has.
none_has(1) := "the only node it may use does not have"

none_has(n) := sprintf("none of the %d nodes it may use has", [n]) if n != 1

# some_have starts a sentence about some of the usable nodes.
some_have(n, usable) := sprintf("%d of the %d nodes it may use %s", [n, usable, verb(n, "has", "have")])

# names lists n things of which a few are named.
names(few, n) := concat(", ", few) if count(few) >= n

names(few, n) := sprintf("%s and others", [concat(", ", few)]) if count(few) < n

# aside puts what there is to add into parentheses.
aside("") := ""

aside(what) := sprintf(" (%s)", [what]) if what != ""

# few names up to three things.
few(things) := names(array.slice(things, 0, 3), count(things))

# rollout says what becomes of one, whose rules have a part in it, and at which size.
rollout(fact, fate) := sprintf("a rollout %s%s", [fate, aside(fact.at)]) if count(fact.others) == 0

rollout(fact, fate) := sprintf("with %s, a rollout %s%s", [few(fact.others), fate, aside(fact.at)]) if count(fact.others) > 0

# room says how much room is left, and by which rules.
room(fact) := sprintf("%s %s %s", [concat(" and ", fact.reasons), leave(fact.reasons), space(fact.room)]) if count(fact.reasons) > 0

room(fact) := sprintf("there is %s", [space(fact.room)]) if {
	count(fact.reasons) == 0
	fact.room != ""
} else := "" if count(fact.reasons) == 0

space("") := "no room"

space(room) := sprintf("room for %s", [room]) if room != ""

# leave goes with rules: the node selector leaves and the requests leave.
leave(reasons) := "leaves" if {
	count(reasons) == 1
	not reasons[0] in {"the requests", "the untolerated taints", "the pod slots of the nodes"}
} else := "leave"

# like says how many others share the fate of a node or a domain.
like(0, _) := ""

like(1, word) := sprintf(" (or one %s like it)", [word])

like(n, word) := sprintf(" (or any of %d %ss like it)", [n, word]) if n > 1

# left says how many of a workload's pods stay Pending after a loss, or are not
# even created again.
left(fact) := sprintf("leaves %s %s", [share(fact.pending, fact.pods), lacking(fact)]) if fact.ending == "never"

left(fact) := sprintf("may leave %s%s %s", [verb(fact.pending, "", "up to "), share(fact.pending, fact.pods), lacking(fact)]) if {
	fact.ending == "sometimes"
}

lacking(fact) := {true: "Pending", false: "missing"}[object.get(fact, "recreated", true)]

# share is some of a workload's pods.
share(1, 1) := "its only pod"

share(n, all) := sprintf("%d of %s", [n, number(all, "pod")]) if n * all != 1
