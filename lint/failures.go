package lint

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

// failures are what went wrong with a run itself: errors about the invocation, and work
// that was not done. The run goes on with the rest.
type failures struct {
	errs   []error
	undone diag.Failures
}

// fail adds an error; nil is none.
func (f *failures) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// leave notes work that was not done, each once.
func (f *failures) leave(work diag.Failure) { f.undone.Add(work) }

// err joins the errors, each once: clusters may share a topology that is wrong.
func (f *failures) err() error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(slices.Clone(f.errs), func(err error) bool {
		repeated := seen[err.Error()]
		seen[err.Error()] = true
		return repeated
	})...)
}
