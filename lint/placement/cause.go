package placement

// Cause is why a verdict is Undetermined.
type Cause string

// The causes: the pods, or others that may take their room, request a resource
// that no node lists; some size of the cluster refutes the verdict.
const (
	ByResource Cause = "unlisted-resource"
	ByGrowth   Cause = "pool-growth"
)
