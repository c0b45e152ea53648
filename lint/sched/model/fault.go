package model

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/schedlint/schedlint/lint/meter"
	"github.com/schedlint/schedlint/lint/source"
)

// Refuted is a fault of the engine: a certificate that does not hold, or a question in
// which the program failed. What it was to tell of the objects is left open.
type Refuted struct {
	Objects []*source.Object
	Err     error
	// Failed is set if the program failed.
	Failed bool
}

// Guard answers a question about some objects, and reports whether it came to an end
// without a fault of the program. One that failed costs its answer and no other.
func (r *Run) Guard(objects []*source.Object, f func()) (sound bool) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if meter.Exhausted(p) {
			panic(p)
		}
		r.fault(Refuted{objects, fmt.Errorf("%v (%s)", p, panickedAt()), true})
	}()
	f()
	return true
}

// fault takes note of a fault.
func (r *Run) fault(x Refuted) {
	if r.OnRefusal != nil {
		r.OnRefusal(x.Err)
	}
	r.Refused = append(r.Refused, x)
}

// panickedAt is where the panic that is being recovered from began: the same in every run.
func panickedAt() string {
	callers := make([]uintptr, 50)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for panicked := false; ; {
		frame, more := frames.Next()
		ours := strings.Contains(frame.Function, "/schedlint/lint/") && !strings.Contains(frame.Function, "Guard")
		if panicked && ours {
			return fmt.Sprintf("%s, %s:%d", frame.Function[strings.LastIndexByte(frame.Function, '/')+1:], filepath.Base(frame.File), frame.Line)
		}
		panicked = panicked || strings.HasPrefix(frame.Function, "runtime.")
		if !more {
			return "place unknown"
		}
	}
}
