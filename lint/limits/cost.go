package limits

import (
	"fmt"
	"math"
)

// Cost counts several things at once, or limits them.
type Cost struct {
	// Objects are those in the result of a render and on the way, Bytes what is read and written,
	// and Entries those of kustomizations, such as resources and patches.
	Objects, Bytes, Entries int
	// Nodes are those of YAML that a render reads, with what aliases repeat.
	Nodes int
	// Steps of a render take about 0.5 µs.
	Steps int
	// Documents are those of YAML and JSON, empty ones too, and the items of Lists.
	Documents int
	// Values are the keys, scalars, maps and lists of a text, with those that aliases repeat.
	Values int
	// Problems are mistakes in a text.
	Problems int
	// Suppressions are comments and annotations that may be one.
	Suppressions int
}

// with combines each part of two costs.
func (c Cost) with(d Cost, f func(a, b int) int) Cost {
	return Cost{
		f(c.Objects, d.Objects), f(c.Bytes, d.Bytes), f(c.Entries, d.Entries), f(c.Nodes, d.Nodes), f(c.Steps, d.Steps),
		f(c.Documents, d.Documents), f(c.Values, d.Values), f(c.Problems, d.Problems), f(c.Suppressions, d.Suppressions),
	}
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost { return c.with(d, Sum) }

// Least returns the lesser of two costs, each part by itself.
func (c Cost) Least(d Cost) Cost { return c.with(d, func(a, b int) int { return min(a, b) }) }

// Less returns what is left of c after d.
func (c Cost) Less(d Cost) Cost { return c.with(d, func(a, b int) int { return max(0, a-b) }) }

// Beyond names the first limit that is exceeded, as in "20000 kustomization entries", or returns "".
func (c Cost) Beyond(most Cost) string {
	for _, row := range [...]struct {
		has, most int
		unit      string
	}{
		{c.Objects, most.Objects, "objects"},
		{c.Bytes, most.Bytes, "bytes"},
		{c.Entries, most.Entries, "kustomization entries"},
		{c.Nodes, most.Nodes, "YAML nodes"},
		{c.Steps, most.Steps, "steps (objects squared, per level and per patch with a target)"},
		{c.Documents, most.Documents, "documents and items of Lists"},
		{c.Values, most.Values, "values"},
		{c.Problems, most.Problems, "mistakes in its text"},
		{c.Suppressions, most.Suppressions, "suppressions"},
	} {
		if row.has > row.most {
			return fmt.Sprintf("%d %s", row.most, row.unit)
		}
	}
	return ""
}

// Counter counts one thing against its limit.
type Counter struct{ Most, Spent int }

// Add counts n more and reports whether the limit holds.
func (c *Counter) Add(n int) bool {
	c.Spent = Sum(c.Spent, n)
	return c.Spent <= c.Most
}

// Left returns how much the limit leaves.
func (c *Counter) Left() int { return max(0, c.Most-c.Spent) }

// Sum returns a+b, or the largest number if that overflows.
func Sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Product returns a*b, or the largest number if that overflows.
func Product(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
