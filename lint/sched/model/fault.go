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
// which the program panicked. The question about the objects stays open.
type Refuted struct {
	Objects []*source.Object
	Err     error
	// Failed is set if the program panicked.
	Failed bool
}

// Guard runs a question about some objects and reports whether it returned without a panic.
// A panic costs this answer and no other.
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

// fault records a fault.
func (r *Run) fault(x Refuted) {
	if r.OnRefusal != nil {
		r.OnRefusal(x.Err)
	}
	r.Refused = append(r.Refused, x)
}

// panickedAt returns the place of the panic being recovered from; it is the same in every run.
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
