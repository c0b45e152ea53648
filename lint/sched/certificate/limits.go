package certificate

import "errors"

// ErrTooLong is returned where checking takes more than its budget: what cannot
// be checked is not said.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the budget of the checker for one component that was explored,
// in filters asked.
const CheckSteps = 400_000
