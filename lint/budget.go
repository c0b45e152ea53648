package lint

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
	return &budget{factor: factor, advice: int(adviceSteps * factor)}
}

// runSteps is the number of steps that the contexts of a run take together before each further
// one is judged briefly, with brakedShare of its budget. It is ten times what the most
// expensive repository of the corpus takes, and more than all of them as one tree. Of these,
// adviceSteps are for trials of advice.
const (
	runSteps    = 125_000_000
	adviceSteps = 40_000_000
	brakedShare = 0.01
)

// contextObjects limits the objects in all contexts of a run together, including objects that
// may or may not exist: a few files may make very many contexts, each with all that they share.
const contextObjects = 1_000_000

// brief reports whether the next context is judged briefly.
func (b *budget) brief() bool { return float64(b.spent) > runSteps*b.factor }

// share returns the fraction of its step budget that the next context gets.
func (b *budget) share() float64 {
	if b.brief() {
		return brakedShare
	}
	return 1
}

// exceeded reports whether the remaining contexts of a cluster are skipped.
func (b *budget) exceeded(c *cluster) bool { return c.Len() > 1 && b.objects > contextObjects }
