package placement

// DecideWithoutSearch decides by proofs and runs alone, as components that are
// too large to search are decided.
func DecideWithoutSearch(m *Model) *Decision {
	a := newArena(m, true, nil)
	d := &decided{a: a}
	for _, c := range a.components() {
		d.outcomes = append(d.outcomes, a.estimate(c))
	}
	decision := d.decision(m, d)
	if err := m.verify(decision); err != nil {
		panic(err)
	}
	return decision
}
