package certificate

import "errors"

// ErrTooLong is returned if a check exceeds its budget; a result that cannot
// be checked is not reported.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the checker's budget for one component that was explored,
// in filters applied.
const CheckSteps = 400_000
