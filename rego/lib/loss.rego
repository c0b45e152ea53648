package schedlint.loss

import data.schedlint.text

# lost names what a loss is of, and says for how many others the same is true.
lost(row) := sprintf("%s %s%s", [word(row.key), row.value, text.aside(same(row.like))])

# word is what people call the domains of a topology key.
word(key) := object.get(words, key, key)

words := {
	"kubernetes.io/hostname": "node",
	"topology.kubernetes.io/zone": "zone",
	"topology.kubernetes.io/region": "region",
}

same(0) := ""

same(n) := sprintf("the same for %d more", [n]) if n > 0
