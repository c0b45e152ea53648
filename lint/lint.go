package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/build"
	"github.com/schedlint/schedlint/lint/kustomize"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Policy judges facts.
type Policy interface {
	// Evaluate goes on with a tally. Rules that fail are in the tally afterwards and
	// judge nothing any more; the error is that of the context.
	Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error)
	// Own reports whether rules of the team's own take part, which may judge
	// facts that the built-in ones are content with.
	Own() bool
	// IDs names all rules, those that are off included.
	IDs() []string
	// Reads names the lists of facts that a rule looks at; none if that is not
	// known, or if the rule is off.
	Reads(rule string) []string
	// MayRead reports whether a rule may look at a list of facts; false if it is off.
	MayRead(rule, list string) bool
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
	// Level is the level of the diagnostics of a rule.
	Level func(rule string) diag.Level
}

// ErrNothing is returned if there is no document at all to look at.
var ErrNothing = errors.New("no document found: nothing was checked")

// run is the state of one Run.
type run struct {
	// spent is how many steps the contexts that were judged have taken, advice how many
	// are left to try advice with.
	spent, advice int
	// objects are how many the contexts had so far, where there were several.
	objects int
	Options
	ctx    context.Context
	table  workload.Table
	set    *source.Set
	files  map[string]*source.File
	report *diag.Report
	errs   []error
	// tally is what the rules have cost so far.
	tally  *facts.Tally
	skips  *skips
	passed passed
	// survive tells what losses a workload is asked to survive.
	survive func(*workload.Workload) []string
	// found are the findings so far, seen what makes them one.
	found        []accept.Finding
	seen         map[sameFinding]bool
	suppressions suppressions
	allowed      accept.Allowance          // of suppressions in manifests; nil for all
	permitted    map[diag.Suppression]bool // what allowed said
	scanned      []string                  // files whose comments are among the suppressions
	renders
	// decisions are those of each cluster, broken the files with mistakes.
	decisions map[string]build.Decisions
	broken    map[string]bool
	// altered are objects of which kustomizations may change anything.
	altered []*source.Object
	left    left
	// open are the questions that the summary counts already.
	open map[unknown]bool
}

// Run lints. The report is complete even where the error is not nil, as far as
// things could be read.
func Run(ctx context.Context, o Options) (*diag.Report, error) {
	if o.Config == nil {
		o.Config = &config.Config{}
	}
	r := newRun(ctx, o, o.Survive)
	r.load()
	if r.Compared {
		r.remember()
	}
	r.gather()
	r.judge(build.Facts(build.Input{Model: sched.New(&workload.Set{}, nil), Problems: r.set.Problems}), nil, nil)
	parts := r.parts()
	r.set = nil // each part is let go once it is judged
	for len(parts) > 0 {
		p := parts[0]
		parts[0] = part{}
		parts = parts[1:]
		r.cluster(p)
	}
	r.relocate()
	r.accept()
	r.skips.into(&r.report.Summary)
	r.passed.into(&r.report.Summary)
	r.report.Source, r.report.Display, r.report.Open = r.source, r.display, r.undecided()
	if r.Compared {
		r.report.Left, r.report.Gone = r.left.unjudged, r.gone
		r.quiet()
	}
	r.report.Sort()
	if !r.Compared {
		r.report.Merge()
	}
	return r.report, errors.Join(distinct(r.errs)...)
}

func newRun(ctx context.Context, o Options, losses []string) *run {
	r := &run{
		Options: o, ctx: ctx, table: workload.NewTable(), files: map[string]*source.File{}, report: &diag.Report{}, skips: newSkips(), tally: facts.NewTally(),
		survive: asks(o.Config, losses), decisions: map[string]build.Decisions{}, broken: map[string]bool{}, seen: map[sameFinding]bool{}, open: map[unknown]bool{},
		permitted: map[diag.Suppression]bool{}, renders: newRenders(), advice: int(adviceSteps * max(o.Steps, 1)),
	}
	if o.OnlyKnown {
		r.allowed = accept.Allow(o.Known)
	}
	return r
}

// distinct drops repeats: clusters may share a topology that is wrong.
func distinct(errs []error) []error {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
		repeated := seen[err.Error()]
		seen[err.Error()] = true
		return repeated
	})
}

// lost notes work that was not done, each once. The run goes on with the rest.
func (r *run) lost(f diag.Failure) { r.report.Failures.Add(f) }

// rooted names the file of a rule from the root, as other files are named.
func (r *run) rooted(f diag.Failure) diag.Failure {
	if f.File == "" {
		return f
	}
	if rel, err := filepath.Rel(r.Root, absolute(r.Dir, f.File)); err == nil {
		f.File = filepath.ToSlash(rel)
	}
	return f
}

func (r *run) fail(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// load reads the manifests.
func (r *run) load() {
	opts := r.sourceOptions()
	opts.Ignore = r.ignore
	set, err := source.Load(opts, r.Paths)
	r.fail(err)
	r.set = set
	r.keep(set)
	r.renderAll()
	r.kustomized()
	r.loose = r.set.Objects
	for i := range set.Problems {
		r.broken[set.Problems[i].Span.File] = true
	}
	for _, name := range set.Untracked {
		r.skips.add(&r.skips.skipped, untracked, place(name, 1))
	}
	for _, k := range set.Unread {
		r.skips.add(&r.skips.skipped, k.Reason, k.File)
	}
	s := &r.report.Summary
	s.Files, s.Documents = len(set.Files), set.Documents
	for _, k := range set.Skipped {
		if k.Reason == source.SkipConfig { // ours, and no document of the user's
			s.Documents--
			continue
		}
		r.skips.add(&r.skips.skipped, k.Reason, place(k.File, k.Line))
		r.broken[k.File] = r.broken[k.File] || hidesObjects[k.Reason]
	}
	if s.Documents == 0 && len(set.Problems) == 0 && len(r.rendered) == 0 && s.Unrendered == 0 {
		r.fail(ErrNothing)
	}
}

// kustomized leaves out of the objects what kustomizations of the tree change.
func (r *run) kustomized() {
	known := kustomize.Obscure(r.set, r.table.Declares)
	r.set.Objects, r.altered = known.Objects, known.Whole
	for _, o := range known.Whole {
		r.skips.add(&r.skips.skipped, altered, r.at(o))
	}
	for _, o := range known.Changed {
		r.skips.add(&r.skips.unknown, changed, r.at(o))
	}
	for _, file := range slices.Sorted(maps.Keys(r.absent)) {
		for range r.absent[file] {
			r.skips.add(&r.skips.skipped, inNoRender, place(file, 1))
		}
	}
}

// Why objects that kustomizations change are left out, or are known in part.
const (
	altered = "manifest with unknown changes by a kustomization"
	changed = "a kustomization changes fields of it"
	// inNoRender is why objects count that are in files which renders use.
	inNoRender = "object that no render contains"
)

// hidesObjects are the reasons for which a document that was judged once may be left out
// as a whole now: what was found in it is not fixed by that.
var hidesObjects = map[string]bool{
	source.SkipTemplate: true, source.SkipOtherTemplate: true, source.SkipExcerpt: true, source.SkipNoManifest: true, source.SkipList: true,
	source.SkipLarge: true,
}

// untracked is why a file is left out that Options.Tracked declines.
const untracked = "untracked file"

func (r *run) sourceOptions() source.Options {
	return source.Options{Dir: r.Dir, Root: r.Root, Stdin: r.Stdin, Overlay: r.Overlay, Tracked: r.Tracked, Keep: r.table.Relevant, Drop: workload.Unread}
}

// ignore applies the configuration's globs, which count from its directory.
func (r *run) ignore(name string) bool {
	return len(r.Config.Ignore) > 0 && r.Config.Ignores(r.fromConfig(name))
}

// fromConfig turns a name from the root into one from the configuration's
// directory.
func (r *run) fromConfig(name string) string {
	if r.Config.Dir == "" || name == source.StdinName {
		return name
	}
	rel, err := filepath.Rel(r.Config.Dir, filepath.Join(r.Root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

func (r *run) keep(set *source.Set) {
	for _, f := range set.Files {
		r.files[f.Name] = f
	}
}

func (r *run) source(name string) []byte {
	if f := r.files[name]; f != nil {
		return f.Text
	}
	return nil
}

func (r *run) display(name string) string {
	if f := r.files[name]; f != nil && f.Display != "" {
		return f.Display
	}
	return name
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// relative resolves paths of the configuration.
func (r *run) relative(paths []string) []string {
	var all []string
	for _, p := range paths {
		p = absolute(r.Config.Dir, p)
		if rel, err := filepath.Rel(r.Dir, p); err == nil {
			p = rel
		}
		all = append(all, p)
	}
	return all
}

// findings lets the policy see the facts and turns what it says into findings:
// place, object and explanation come from the fact, never from the rule. C is nil
// for facts about no cluster. With is told the fact of each.
func (r *run) findings(f *build.Built, c *cluster, objects []*source.Object, with func(fact int)) (all []accept.Finding) {
	judgements, err := r.Policy.Evaluate(r.ctx, f.Facts, r.tally)
	r.fail(err)
	var in *locator
	for _, failure := range r.tally.Failures {
		if r.Level(failure.Rule) != diag.LevelOff { // a rule that is off reports nothing
			r.lost(r.rooted(failure))
		}
	}
	for _, j := range judgements {
		level := r.Level(j.Rule)
		if level == diag.LevelOff {
			continue
		}
		if in == nil {
			in = &locator{files: byFile(objects)}
		}
		s := f.Subject(j.Fact)
		found := accept.Finding{Diagnostic: diag.Diagnostic{
			Rule: j.Rule, Level: level, Message: j.Message, Details: j.Details,
			Location: s.Location, Pending: s.Pending, Related: s.Related, Fixes: s.Fixes,
		}}
		if c != nil {
			found.Cluster, found.Render, found.Branch = c.name, c.render, c.Branch(s.Location.File)
			if x := r.results[s.Location.File]; x != nil {
				found.Render = x.Name
			}
		}
		if s.Object != nil {
			found.Object = *s.Object
		}
		in.locate(&found)
		all = append(all, found)
		if with != nil {
			with(j.Fact)
		}
	}
	return all
}
