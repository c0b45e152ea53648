package placement

// assertion translates the outcome of a component.
func (a *arena) assertion(o *outcome) *assertion {
	claim := &assertion{never: o.never, proof: o.proof}
	as := func(i int) member {
		u := a.units[i]
		m := member{g: u.g, pods: u.pods, node: -1}
		if u.g.Kind.PerNode() {
			m.node = u.pinned
		}
		m.open = o.proof.open[i]
		return m
	}
	for _, i := range o.units {
		claim.members = append(claim.members, as(i))
	}
	for _, i := range o.proof.about {
		claim.about = append(claim.about, as(i))
	}
	return claim
}
