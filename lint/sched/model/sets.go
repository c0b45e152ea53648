package model

// Sets divides the numbers from 0 into sets. At first each number is alone.
type Sets []int

// NewSets returns the sets of n numbers.
func NewSets(n int) Sets {
	s := make(Sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Of returns the smallest number in the set of i.
func (s Sets) Of(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// Join unites the sets of two numbers.
func (s Sets) Join(i, j int) {
	i, j = s.Of(i), s.Of(j)
	s[max(i, j)] = min(i, j)
}
