package lint

import "github.com/schedlint/schedlint/lint/limits"

// budget limits the total cost of the contexts of a run: a few files may make very many.
type budget struct {
	// Multiplies every number of steps.
	factor float64
	// Steps that the judged contexts have taken, and steps left for trials of advice.
	spent, advice int
	// Objects counted so far: those around each part, and those in contexts and units where a
	// cluster has several.
	objects int
}

func newBudget(factor float64) *budget {
	factor = max(factor, 1)
	return &budget{factor: factor, advice: int(limits.AdviceSteps * factor)}
}

// brakedShare is the part of its budget that a context gets beyond limits.RunSteps.
const brakedShare = 0.01

// brief reports whether the next context is judged briefly.
func (b *budget) brief() bool { return float64(b.spent) > limits.RunSteps*b.factor }

// share returns the fraction of its step budget that the next context gets.
func (b *budget) share() float64 {
	if b.brief() {
		return brakedShare
	}
	return 1
}

// exceeded reports whether the remaining contexts of a cluster are skipped.
func (b *budget) exceeded(c *cluster) bool { return c.Len() > 1 && b.objects > limits.ContextObjects }
