package lint

// budget is what the contexts of a run may cost together: there may be very many of them
// in few files.
type budget struct {
	// factor multiplies every number of steps.
	factor float64
	// spent is how many steps the contexts that were judged have taken, advice how many
	// are left to try advice with.
	spent, advice int
	// objects are how many the contexts had so far, where there were several.
	objects int
}

func newBudget(factor float64) *budget {
	factor = max(factor, 1)
	return &budget{factor: factor, advice: int(adviceSteps * factor)}
}

// runSteps is how many steps the contexts of a run take together before each is judged
// briefly, with brakedShare of its budget. It is ten times what the dearest repository of
// the corpus takes, and more than all of them as one tree. Of these, adviceSteps are for
// trials of advice.
const (
	runSteps    = 125_000_000
	adviceSteps = 40_000_000
	brakedShare = 0.01
)

// contextObjects is how many objects the contexts of a run may hold together, those
// included of which nobody knows whether they are there: a few files may make very many
// contexts, each with all that is common to them.
const contextObjects = 1_000_000

// brief reports whether the next context is judged briefly.
func (b *budget) brief() bool { return float64(b.spent) > runSteps*b.factor }

// share is the share of its budget that the next context has.
func (b *budget) share() float64 {
	if b.brief() {
		return brakedShare
	}
	return 1
}

// exceeded reports whether a cluster has more contexts than are judged.
func (b *budget) exceeded(c *cluster) bool { return c.Len() > 1 && b.objects > contextObjects }
