// Command schedlint lints Kubernetes manifests against declared nodes: it reports pods that can
// never be placed, constraints that have no effect, and fields that the API server rejects.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// version is a source constant, so that every build reports the same version.
const version = "0.1.0"

// Exit codes. Findings, errors and failures can occur together; the highest code wins.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInternal = 3
)

// failed returns the exit code for work that was not done.
func failed(all diag.Failures) int {
	switch {
	case all.Internal():
		return exitInternal
	case !all.Complete():
		return exitUsage
	}
	return exitClean
}

// incomplete returns an error if a command has not done everything.
func incomplete(all diag.Failures) error {
	if code := failed(all); code != exitClean {
		return statusError{code: code}
	}
	return nil
}

func main() {
	if slices.Equal(os.Args[1:], []string{inputs.WorkerArgument}) {
		if inputs.Work() != nil {
			os.Exit(exitInternal)
		}
		return
	}
	tuneMemory()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the whole command within the current process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "schedlint: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	root := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
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

// statusError ends a command with an exit code and, unless err is nil, an error.
type statusError struct {
	code int
	err  error
}

func (e statusError) Error() string { return fmt.Sprint("exit status ", e.code) }

// printErrors writes one line for each of the joined errors.
func printErrors(w io.Writer, err error) {
	for _, line := range lines(err) {
		fmt.Fprintln(w, "schedlint:", report.Visible(line))
	}
}

// lines splits joined errors. Each line keeps the context that wraps all of them.
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
	for _, line := range lines(inner) {
		all = append(all, context+line)
	}
	return all
}

// How far memory grows before garbage is collected at all, and by how many percent the heap grows
// from then on. No collection before startLimit takes a run on the demo from 0.23 s of CPU to 0.20;
// percent keeps lint of BenchmarkScale at 269 MiB, where the 100 of Go needs 284. Facts for rules of
// a team stay to the end, so that collecting them again and again frees nothing: with the second
// pair BenchmarkPolicies adds 3.0 times the bare parse, and 3.5 with the first.
const (
	startLimit, percent      = 26 << 20, 80
	factsLimit, factsPercent = 192 << 20, 150
)

// tuneMemory sets these limits, unless GOGC or GOMEMLIMIT is set.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startLimit)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { // runs in the first collection, because nothing refers to it
		if debug.SetMemoryLimit(math.MaxInt64) == factsLimit {
			debug.SetGCPercent(factsPercent)
		} else {
			debug.SetGCPercent(percent)
		}
	})
}

// expectFacts prepares for a run with a team's own rules. It does nothing after the first collection.
func expectFacts(dirs []string, conf *config.Config) {
	if len(dirs)+len(conf.Policies)+len(conf.Custom) > 0 && debug.SetMemoryLimit(-1) == startLimit {
		debug.SetMemoryLimit(factsLimit)
	}
}
