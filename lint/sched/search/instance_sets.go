package search

// nodeSet is a set of nodes.
type nodeSet struct {
	list []int32
	has  []bool
	one  int // the only node, or -1; has is nil then
	// least is the least that any of them offers, by resource.
	least []int64
}

func (s *nodeSet) holds(n int) bool {
	if s.has == nil {
		return s.one == n
	}
	return s.has[n]
}

// counter counts pods by domain. Keys with many domains are counted sparsely, as most of
// them hold no pod of a given pod group.
type counter struct {
	dense  []int32
	sparse map[int32]int32
	total  int
}

const denseDomains = 256

func newCounter(domains int) *counter {
	if domains <= denseDomains {
		return &counter{dense: make([]int32, domains)}
	}
	return &counter{sparse: map[int32]int32{}}
}

func (c *counter) at(d int32) int32 {
	if c.dense != nil {
		return c.dense[d]
	}
	return c.sparse[d]
}

// reset removes all pods.
func (c *counter) reset() {
	c.total = 0
	clear(c.dense)
	clear(c.sparse)
}

func (c *counter) add(d, by int32) {
	c.total += int(by)
	if c.dense != nil {
		c.dense[d] += by
	} else if c.sparse[d] += by; c.sparse[d] == 0 {
		delete(c.sparse, d)
	}
}
