package schedlint.text

# finding is a message with its details for result.finding: the parts that say something,
# with the workload before the first.
finding(workload, parts) := {
	"message": sprintf("%s: %s", [workload, said[0]]),
	"details": array.slice(said, 1, count(said)),
} if {
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

# few names up to three things, and says how many more there are.
few(things) := concat(", ", things) if count(things) <= 3

few(things) := sprintf("%s and %d more", [concat(", ", array.slice(things, 0, 3)), count(things) - 3]) if count(things) > 3

# aside puts what there is to add into parentheses.
aside("") := ""

aside(what) := sprintf(" (%s)", [what]) if what != ""
