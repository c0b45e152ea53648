package simulate

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Draw yields random numbers that are the same on every machine. The generator is a PCG, whose
// sequence for a seed is part of the contract of math/rand/v2. What becomes of its numbers is
// decided here, so that no release of Go can change it.
type Draw struct{ pcg *rand.PCG }

// NewDraw returns the numbers of one run. The text names what the run is about.
func NewDraw(text string, run int) *Draw {
	sum := sha256.Sum256([]byte(text))
	return &Draw{rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])+uint64(run))}
}

// below returns a number from 0 to n-1.
func (d *Draw) below(n int) int {
	high, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(high)
}

// shuffle puts a list into a random order.
func shuffle[T any](d *Draw, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := d.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
