// Package cli implements the schedlint command line. It is separate from package main because tests in
// other packages run it, and a package main cannot be imported.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
)

// version is a constant in the source, so that every build reports the same version.
const version = "0.1.0"

// Exit codes. A run that has findings, errors and failures at the same time exits with the highest
// code.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInternal = 3
)

// failed returns the exit code for the failures in a run.
func failed(all diag.Failures) int {
	switch {
	case all.Internal():
		return exitInternal
	case !all.Complete():
		return exitUsage
	}
	return exitClean
}

// incomplete returns an error if there are failures.
func incomplete(all diag.Failures) error {
	if code := failed(all); code != exitClean {
		return statusError{code: code}
	}
	return nil
}

// Main runs the command in os.Args and exits. With inputs.WorkerArgument, it runs a render worker instead,
// until standard input ends.
func Main() {
	if slices.Equal(os.Args[1:], []string{inputs.WorkerArgument}) {
		if inputs.Work() != nil {
			os.Exit(exitInternal)
		}
		return
	}
	// GOGC and GOMEMLIMIT override these limits.
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(startLimit)
		least := leastPercent
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		var pace func(*[16]byte)
		pace = func(*[16]byte) {
			if debug.SetMemoryLimit(math.MaxInt64) == factsLimit {
				least = factsPercent
			}
			metrics.Read(live)
			used := live[0].Value.Uint64()
			room := max(0, target-int64(used)) * 100 / int64(max(1, used))
			debug.SetGCPercent(max(least, int(min(mostPercent, room))))
			runtime.SetFinalizer(new([16]byte), pace) // runs after the next collection, because nothing refers to the object
		}
		runtime.SetFinalizer(new([16]byte), pace)
	}
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs a command in this process and returns its exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	var idle render.Idle
	defer idle.Stop()
	return RunContext(inputs.WithIdle(context.Background(), &idle), args, stdin, stdout, stderr)
}

// RunContext is Run with the render workers in ctx, which outlive the command (see inputs.WithIdle).
func RunContext(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "schedlint: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	root := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status statusError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &status):
		if status.err != nil {
			printErrors(stderr, status.err)
		}
		return status.code
	}
	printErrors(stderr, err)
	return exitUsage
}

// statusError ends a command with an exit code. If err is not nil, its text is printed as an error
// message.
type statusError struct {
	code int
	err  error
}

func (e statusError) Error() string { return fmt.Sprint("exit status ", e.code) }

// printErrors writes each joined error on its own line.
func printErrors(w io.Writer, err error) {
	for _, line := range lines(err) {
		fmt.Fprintln(w, "schedlint:", report.Visible(line))
	}
}

// lines splits joined errors into lines. If the joined errors are wrapped in a message, each line
// starts with that message.
func lines(err error) []string {
	var all []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, lines(e)...)
		}
		return all
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return []string{err.Error()}
	}
	context, ok := strings.CutSuffix(err.Error(), inner.Error())
	if !ok {
		return []string{err.Error()}
	}
	all = append(all, lists.Of(lines(inner), func(line string) string { return context + line })...)
	return all
}

// The garbage collector first runs when the heap reaches startLimit. After each collection, the heap
// may grow by mostPercent, but only up to target, or by leastPercent if target is too small for that.
// Without startLimit, the demo takes 0.23 s of CPU time instead of 0.20 s. In BenchmarkScale, Go's
// default of 100 percent raises the peak of the survive case from 276 to 308 MiB, above its limit of
// 285 MiB.
//
// factsLimit and factsPercent replace startLimit and leastPercent in runs with a team's own rules.
// The facts for these rules stay in memory until the run ends, so early collections would free
// nothing. This reduces the cost of the rules in BenchmarkPolicies from 3.5 times the cost of parsing
// to 3.0 times.
const (
	startLimit, leastPercent = 26 << 20, 45
	factsLimit, factsPercent = 192 << 20, 150
	mostPercent, target      = 65, 165 << 20
)

// expectFacts sets the limits for a run with a team's own rules. It does nothing if the garbage
// collector has already run.
func expectFacts(dirs []string, conf *config.Config) {
	if len(dirs)+len(conf.Policies)+len(conf.Custom) > 0 && debug.SetMemoryLimit(-1) == startLimit {
		debug.SetMemoryLimit(factsLimit)
	}
}
