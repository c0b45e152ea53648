package lint

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

// failures collects what went wrong with a run: errors about the invocation, and work that was
// not done. The run continues with the rest.
type failures struct {
	errs   []error
	undone diag.Failures
}

// fail adds an error, unless it is nil.
func (f *failures) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// leave records work that was not done, without duplicates.
func (f *failures) leave(work diag.Failure) { f.undone.Add(work) }

// err joins the errors without duplicates, because clusters may share a broken topology.
func (f *failures) err() error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(slices.Clone(f.errs), func(err error) bool {
		repeated := seen[err.Error()]
		seen[err.Error()] = true
		return repeated
	})...)
}
