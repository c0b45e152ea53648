package schedlint.keys

# topology is the topology key that a word stands for, or the word itself.
topology("node") := "kubernetes.io/hostname"

topology("zone") := "topology.kubernetes.io/zone"

topology("region") := "topology.kubernetes.io/region"

topology(key) := key if not key in {"node", "zone", "region"}

# kind is the word that stands for a topology key, or the key itself.
kind(key) := object.get({"kubernetes.io/hostname": "node", "topology.kubernetes.io/zone": "zone", "topology.kubernetes.io/region": "region"}, key, key)

# matches reports whether a name matches one of some globs; every name matches none at all.
matches(globs, _) if count(globs) == 0

matches(globs, name) if {
	some pattern in globs
	glob.match(pattern, null, name)
}

# variable reports whether a text has a variable, so that only a later tool knows what it says.
variable(text) if regex.match(`\$\{|\$\(|\{\{`, text)

# listed is matches, but an empty list has no name.
listed(globs, name) if {
	some pattern in globs
	glob.match(pattern, null, name)
}

# named reports whether a namespace is known: not left open, and no variable.
named(namespace) if regex.match(`^[-a-z0-9]+$`, namespace)
