package lint

import (
	"context"
	"errors"
	"io"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// Policy judges facts.
type Policy interface {
	// Evaluate goes on with a tally. Rules that fail are in the tally afterwards and
	// judge nothing any more; the error is that of the context.
	Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error)
	// Whole reports whether rules beside the built-in ones may look at a list of facts, or
	// at a field of its rows as in workloads.terms: they may judge what those are content
	// with, so the list has to be whole.
	Whole(path string) bool
	// Wants reports whether a rule may report a row of a list, as far as some of its fields say: their
	// names and values in turn.
	Wants(list string, fields ...any) bool
	// Losses are the topology keys of which rules that are on ask what the loss of a domain
	// does: sorted, each once.
	Losses() []string
	// IDs names all rules, those that are off included.
	IDs() []string
	// Reads names the lists of facts that a rule looks at; none if that is not
	// known, or if the rule is off.
	Reads(rule string) []string
	// MayRead reports whether a rule may look at a place of the facts, such as workloads
	// or workloads.answers.survives; false if it is off.
	MayRead(rule, path string) bool
}

// Options say what to lint. Dir and Root are absolute; Dir is where relative
// paths start, Root is the repository root, from which files are named.
type Options struct {
	Dir, Root string
	Paths     []string
	// Topology are files that declare nodes, relative to Dir; they take the place
	// of those in the configuration.
	Topology []string
	Stdin    io.Reader
	// Overlay gives texts in place of those that are in the files, as
	// source.Options do.
	Overlay func(name string) (text []byte, ok bool)
	// Tracked says which files belong to what is looked at, as source.Options do;
	// a topology file that is named is read all the same.
	Tracked func(path string) bool
	// Renders are what to judge as it is deployed; Renderer renders them, and nil
	// renders nothing.
	Renders  []Render
	Renderer Renderer
	// Unfollowed are the GitOps pointers that lead to no render, and Notes what to say of
	// all of them.
	Unfollowed []Unfollowed
	Notes      []string
	// Followed are the GitOps pointers that were looked at, whatever became of them; nil if
	// none was to be.
	Followed map[PointerID]bool
	// Edited are texts, by name from the root, that renders read in place of those that
	// are in the files.
	Edited map[string][]byte
	// Survive are topology keys the loss of whose domains every workload is asked
	// to survive, beside what the configuration asks of it.
	Survive []string
	// Steps multiplies every budget of steps; 0 stands for 1.
	Steps float64
	// SourceRoot is the directory, relative to Dir, that rendered manifests were
	// rendered from; "" is Dir, and then only what has the same name is taken for
	// the source.
	SourceRoot string
	// Config is what the team says about the repository; nil for nothing.
	Config *config.Config
	// Compared is set if the report is to be compared with that on another state of
	// the files, so that it tells what was judged and what has become of the rest.
	Compared bool
	// Baseline accepts findings; nil for none. With Rebase it is filled anew with
	// all that there are.
	Baseline *accept.Baseline
	Rebase   bool
	// NoInline leaves the suppressions in manifests out of account, OnlyKnown those
	// that are not among Known, which are those of another state of the files.
	NoInline  bool
	OnlyKnown bool
	Known     []diag.Suppression
	// Today is the day by which suppressions expire, as in 2026-11-21.
	Today  string
	Policy Policy
	// Level is what a rule itself gives its findings. The configuration, and its scopes,
	// count for more.
	Level func(rule string) diag.Level
}

// ErrNothing is returned if there is no document at all to look at.
var ErrNothing = errors.New("no document found: nothing was checked")

// ErrNoObject is returned if there are documents, but none is a Kubernetes object.
var ErrNoObject = errors.New("no Kubernetes object found: nothing was checked")

// Run lints. The report is complete even where the error is not nil, as far as
// things could be read.
func Run(ctx context.Context, o Options) (*diag.Report, error) {
	r := newRun(ctx, o, o.Survive)
	report := r.report()
	report.Summary = r.summary.whole()
	report.Sort()
	if !o.Compared {
		report.Merge()
	}
	return report, r.failures.err()
}
