package source

import (
	"hash/maphash"
	"strconv"
)

// Digester gives equal nodes equal sums, so that those that may be Equal are found
// without comparing all with all. Nobody can know beforehand which others collide.
type Digester struct{ seed maphash.Seed }

// NewDigester makes a Digester whose sums are comparable with each other only.
func NewDigester() *Digester { return &Digester{maphash.MakeSeed()} }

// Sum is the sum of a node; places, quoting and the order of fields do not count.
func (d *Digester) Sum(n *Node) uint64 {
	if n.IsNull() {
		return 1
	}
	sum := uint64(n.Kind)<<8 + uint64(n.Type) + 2
	switch n.Kind {
	case Scalar:
		return d.mix(sum, maphash.String(d.seed, canonical(n)))
	case Map:
		for k, v := range n.Fields() {
			sum += d.mix(maphash.String(d.seed, k.Value), d.Sum(v))
		}
		return d.mix(sum, uint64(n.Len()))
	}
	for _, item := range n.Items() {
		sum = d.mix(sum, d.Sum(item))
	}
	return sum
}

func (d *Digester) mix(a, b uint64) uint64 { return maphash.Comparable(d.seed, [2]uint64{a, b}) }

// canonical is a scalar as all that are equal to it are written.
func canonical(n *Node) string {
	switch n.Type {
	case Bool:
		return strconv.FormatBool(n.truth())
	case Int:
		if i, ok := n.Int(); ok {
			return strconv.FormatInt(i, 10)
		}
	case Float:
		if f, ok := n.float(); ok {
			return strconv.FormatFloat(f+0, 'g', -1, 64) // 0 for -0
		}
	}
	return n.Value
}
