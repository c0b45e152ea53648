package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/cmd/schedlint/change"
	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

type lintFlags struct {
	inputFlags
	failFlags
	change.Request
	outputs                           outputs
	failOn, category, fix, sourceRoot string
	quiet, all, verbose               bool
	write, reason, until, today       string // for a baseline
	noInline                          bool
	failOnSilenced, failOnNodeChange  bool
}

func newLint() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Check manifests for scheduling problems",
		Long: `Lint checks manifests for scheduling constraints that cannot be satisfied, that
block rollouts or drains, or that have no effect, and for placement fields that
the API server rejects. PATH is a file, a directory (searched recursively for
.yaml, .yml and .json) or - for standard input; the default is the working
directory.

Nodes: --topology names the nodes to check against: the output of
kubectl get nodes -o yaml, a NodeTopology, or the file that a tool such as kind
makes the cluster from (see docs/nodes.md). A NodeTopology under the paths is
used as well.

Kustomize: lint renders, without network access, each kustomization under the
paths that no other kustomization refers to. It reports findings in the source
files and names the affected renders. All other files are linted as written.
With -k, lint renders the named kustomizations and nothing else. A kustomization
that cannot be rendered is an error if you named it and a note otherwise; see
--fail-on-unrendered. schedlint inputs lists what can be rendered.

Helm: lint renders, without helm, each chart under the paths with its default
values, except library charts, charts in charts/ of another one, and charts that
something else deploys. It reports findings in the values file or template that
sets the value. With --helm, lint renders the named charts, with the values
files of an environment, and nothing else.

GitOps: lint also renders the directories and charts that Flux Kustomizations,
HelmReleases and Argo CD Applications under the paths deploy, with their
patches, values, options and variables.

Rendered input: with --source-root, findings in the output of helm template, or
of kustomize with buildMetadata: [originAnnotations], are reported in the source
files.

Accepting findings: use the annotation ignore.schedlint.dev/RULE: REASON on the
object, the comment # schedlint:ignore RULE REASON on the line or the line above
it, a suppress entry in the configuration, or a baseline (--write-baseline).
until=DATE in a reason sets an expiry date. --since reports only findings
introduced since a git revision. --config-from reads the configuration, node
files and accepted findings from a git revision, so a change cannot silence its
own findings.

Fixing: --fix corrects topology keys in place, but only where linting again
shows that the finding is gone and no new one appears. Jobs, anchored values,
rendered input, symlinked files and files modified during the run are never
edited; they are listed on stderr. --fix=diff writes nothing: it prints a
unified diff instead of the text report, and exits with status 1 if there is a
diff, unless --fail-on is none.

Exit status (the highest applies):
  0  no finding at or above --fail-on
  1  findings at or above --fail-on, or another --fail-on-* condition is met
  2  usage, input, topology, configuration or policy error; an incomplete run,
     such as after a rule failed (every format reports it, with the findings so
     far); no workload checked because charts, GitOps pointers or kustomizations
     are not rendered (unrendered in the configuration accepts that); or none at
     a path you named although skipped files may contain some
  3  internal error`,
		Example: `  schedlint lint --topology nodes.yaml manifests
  schedlint lint -t nodes.yaml -k deploy/overlays/prod
  helm template . | schedlint lint -t nodes.yaml -
  schedlint lint --fix=diff manifests | git apply`,
		RunE: func(cmd *cobra.Command, args []string) error { return runLint(cmd, args, &f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.failFlags.add(flags)
	f.outputs.add(flags, report.Formats())
	addRules(flags, &f.RuleDirs)
	flags.Var(dir(&f.sourceRoot), "source-root", "`directory` that the input was rendered from; findings are reported in its files (default: the working directory, matching objects by name)")
	flags.Var(keys(&f.survive), "survive", "require every workload to survive the loss of any one domain of this topology `key`: node, zone, region or a label key (repeatable)")
	flags.Var(choice(&f.failOn, config.FailLevels()), "fail-on", "lowest `level` that fails the run: "+strings.Join(config.FailLevels(), ", ")+" (default error)")
	f.addAccept(flags)
	modes := []string{fixWrite, fixDiff}
	flags.Var(choice(&f.fix, modes), "fix", "correct topology keys where it is safe; `mode` is "+strings.Join(modes, " or "))
	flags.Lookup("fix").NoOptDefVal = fixWrite
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print findings only, nothing if there are none")
	flags.BoolVar(&f.all, "all", false, "show every location of repeated findings (text, markdown) and lift the 4 MiB limit on findings (text)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list the locations of skipped files, unchecked objects and undecided questions")
	flags.Var(value{kind: "string", set: func(s string) error {
		f.category = strings.TrimRight(s, "/") // SARIF puts a slash between it and a run id
		if f.category == "" || strings.TrimSpace(f.category) != f.category || report.Visible(f.category) != f.category {
			return errors.New("expected a name without control characters, and not / alone")
		}
		return nil
	}}, "sarif-category", "`name` that distinguishes several code scanning runs (default: set by the upload)")
	return cmd
}

// addAccept adds the flags for accepted findings.
func (f *lintFlags) addAccept(flags *pflag.FlagSet) {
	isRevision := func(s string) bool { return strings.TrimSpace(s) != "" }
	flags.Var(file(&f.Baseline), "baseline", "`file` with accepted findings (default: the baseline of the configuration)")
	flags.Var(file(&f.write), "write-baseline", "accept all current findings and write them to this `file`")
	flags.StringVar(&f.reason, "reason", "", "`reason` for accepting the findings of --write-baseline (default: the reason in the existing file, or the date)")
	flags.Var(checked(&f.until, "a day as in 2027-03-31", accept.IsDate), "until", "last `date` on which the findings of --write-baseline are accepted")
	flags.Var(checked(&f.Since, "a revision of git", isRevision), "since", "report only findings introduced since this git `revision`")
	flags.BoolVar(&f.failOnSilenced, "fail-on-silenced", false, "with --since, fail if the change silences findings, for example by a suppression, a lower level or an ignored path")
	flags.BoolVar(&f.failOnNodeChange, "fail-on-node-change", false, "with --since, fail if the nodes differ from those of the revision")
	flags.Var(checked(&f.ConfigFrom, "a revision of git", isRevision), "config-from", "read configuration, node files, baseline, --rules and the lock of copies from this git `revision`; suppressions in manifests apply only if it has them too")
	flags.BoolVar(&f.noInline, "no-inline-suppressions", false, "ignore suppressions in annotations and comments of manifests")
	flags.Var(checked(&f.today, "a day as in 2027-03-31", accept.IsDate), "today", "`date` that expiry dates are compared with (default: today, in UTC)")
}

func runLint(cmd *cobra.Command, args []string, f *lintFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	f.Config = f.config
	options, from, err := f.options(cmd, args)
	if err != nil {
		return err
	}
	defer from.Remove()
	if err := f.Known(&options); err != nil {
		return err
	}
	own := policy.Source{Dirs: f.RuleDirs}
	if from != nil {
		own = from.Rules
	}
	expectFacts(own.Dirs, options.Config)
	stop := func() {}
	if f.fix == "" { // otherwise the run itself writes to stderr
		options.Progress, stop = progress(cmd.ErrOrStderr())
	}
	defer stop()
	differs := false
	now, err := change.Judge(options, own, func(o lint.Options) (r *diag.Report, err error) {
		if from != nil {
			from.Admit(cmd.Context(), &o, &f.Request)
		}
		r, differs, err = f.run(cmd, o)
		r.Version = version
		return r, err
	})
	if now == nil {
		return err
	}
	now.From = from
	switch {
	case err != nil: // a baseline or comparison needs all findings
	case f.write != "" && !now.Report.Complete():
		err = errors.New("--write-baseline: the run is incomplete, so no baseline is written")
	case f.write != "":
		err = writeBaseline(options.Baseline)
	case f.Since != "":
		err = now.Since(cmd.Context(), &f.Request)
	case from != nil:
		err = now.TakenOver(cmd.Context(), &f.Request)
		now.Report.Sort()
		now.Report.Merge()
	}
	if from != nil {
		from.Announce(now.Report)
		err = from.Clean(err)
	}
	stop()
	r := now.Report
	undone := slices.Clone(r.Failures)
	if err != nil { // must come before the report, which says that it is incomplete
		printErrors(cmd.ErrOrStderr(), err)
		for _, line := range lines(err) {
			r.Failures.Add(diag.Failure{Stage: diag.StageRead, Message: line})
		}
	}
	if f.outputs.has(report.NeedsRules) {
		r.Rules = policy.Enabled(now.Engine, options.Config)
	}
	r.Fold()
	failOn := cmp.Or(f.failOn, options.Config.FailOn, "error")
	failed := f.failedBy(now, differs && failOn != "none")
	r.FailedBy = failed.flags
	writeErr := f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, color bool) error {
		return report.Write(w, format, r, report.Options{Color: color, Quiet: f.quiet, All: f.all, Verbose: f.verbose, Category: f.category})
	})
	f.outputs.tell(cmd.ErrOrStderr(), undone)
	if err := outcome(r, failOn, writeErr); err != nil {
		return err
	}
	// The user asked for a path to be checked, or for files to be checked as written.
	asked := f.render.Mode == inputs.Off || !onlyHere(options.Dir, options.Paths)
	if asked && len(r.Summary.Unjudged()) > 0 {
		return statusError{exitUsage, errors.New(report.NothingChecked)}
	}
	return failed.err
}

// failure holds the flags by which a run fails whatever its findings are, and the error to exit with.
type failure struct {
	flags []string
	err   error
}

// failedBy returns the flags that fail the run. differs is set if --fix=diff prints a diff.
func (f *lintFlags) failedBy(now *change.Judged, differs bool) (all failure) {
	add := func(is bool, flag string, why error) {
		if is {
			all.flags, all.err = append(all.flags, flag), cmp.Or(all.err, why)
		}
	}
	r := now.Report
	changed := 0
	if r.Change != nil {
		changed = len(r.Change.Nodes)
	}
	add(f.failOnSilenced && now.Silences > 0, "--fail-on-silenced", statusError{exitFindings, fmt.Errorf("the change silences findings: %s (--fail-on-silenced)", report.Count(now.Silences, "place"))})
	add(f.failOnNodeChange && changed > 0, "--fail-on-node-change", statusError{exitFindings, fmt.Errorf("the nodes differ from those of %s (--fail-on-node-change)", f.Since)})
	unrendered := f.onUnrendered(r.Summary.Unrendered)
	add(unrendered != nil, "--fail-on-unrendered", unrendered)
	add(differs, "--fix=diff", statusError{code: exitFindings})
	add(diag.Unsettled(r.Summary.Unknown, f.unknown), "--fail-on-unknown", statusError{code: exitFindings})
	return all
}

// check returns an error if any of the given flags cannot be used together.
func (f *lintFlags) check() error {
	if err := cmp.Or(f.outputs.check(), f.render.Check(len(f.render.Charts))); err != nil {
		return err
	}
	fix, rebase, since := f.fix != "", f.write != "", f.Since != ""
	switch {
	case f.category != "" && !f.outputs.has(func(format string) bool { return format == "sarif" }):
		return errors.New("--sarif-category: no output has the format sarif")
	case fix && (rebase || since):
		return errors.New("--fix changes the files that --since and --write-baseline are about: use one after the other")
	case rebase && since:
		return errors.New("--write-baseline accepts all findings and --since reports some: use one of them")
	case f.ConfigFrom != "" && (fix || rebase):
		return errors.New("--config-from checks a change, which --fix and --write-baseline make: use one after the other")
	case f.failOnSilenced && !since:
		return errors.New("--fail-on-silenced belongs to --since")
	case f.failOnNodeChange && !since:
		return errors.New("--fail-on-node-change belongs to --since")
	case !rebase && (f.reason != "" || f.until != ""):
		return errors.New("--reason and --until belong to --write-baseline")
	case strings.TrimSpace(f.reason) == "" && f.reason != "":
		return errors.New("--reason: expected why the findings are accepted")
	}
	// Standard output is for the diff of --fix=diff.
	if f.fix != fixDiff {
		return nil
	}
	for _, out := range f.outputs {
		if out.path == "" && out.format != "text" {
			return fmt.Errorf("--fix=diff: the diff goes to standard output: give %s a file, as in --format %s=FILE", out.format, out.format)
		}
	}
	f.outputs = slices.DeleteFunc(f.outputs, func(out output) bool { return out.path == "" })
	return nil
}

// options returns the options for a run on the work tree. With --config-from, it also returns the
// revision whose policy applies.
func (f *lintFlags) options(cmd *cobra.Command, args []string) (o lint.Options, from *change.From, err error) {
	conf := config.Choose
	if f.ConfigFrom != "" { // must not even read the work tree's configuration
		conf = func(string) (*config.Config, error) { return &config.Config{}, nil }
	}
	if o, err = f.read(cmd, args, conf); err != nil {
		return o, nil, err
	}
	if f.fix != "" && slices.Contains(args, "-") {
		return o, nil, errors.New("--fix: standard input cannot be rewritten: name files or directories")
	}
	o.SourceRoot, o.Compared, o.Placements = f.sourceRoot, f.Since != "" || f.ConfigFrom != "", f.unknown == diag.FailPlacement
	if o.Compared {
		o.Seen = lint.SeenNodes{}
	}
	o.Today, o.NoInline, o.Rebase = cmp.Or(f.today, today()), f.noInline, f.write != ""
	switch {
	case o.Rebase:
		o.Baseline, err = f.renewed(o.Today)
	case f.ConfigFrom == "":
		o.Baseline, err = change.LoadBaseline(f.Baseline, o.Config)
	}
	if err == nil && f.ConfigFrom != "" {
		if from, err = f.From(&o); err == nil {
			f.render.Library = from.Library
		}
	}
	if err == nil {
		err = f.render.Apply(cmd.Context(), &o, len(args) == 0)
		f.Render = f.render
	}
	return o, from, err
}

func today() string { return time.Now().UTC().Format("2006-01-02") }

// renewed returns the baseline to write. It keeps the reason and expiry date of an existing
// baseline unless flags set new ones. It also keeps entries for manifests that this run does not
// read. If the existing file is not a baseline, it returns an error.
func (f *lintFlags) renewed(today string) (*accept.Baseline, error) {
	b := accept.NewBaseline("found when this baseline was written, on "+today, "", nil)
	if err := worktree.RefuseLink(f.write); err != nil {
		return nil, fmt.Errorf("--write-baseline: %w", err)
	}
	old, err := change.ReadBaseline(f.write)
	switch {
	case err == nil:
		b.Reason, b.Until, b.Entries = old.Reason, old.Until, old.Entries
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--write-baseline: %w", err)
	}
	b.Reason = cmp.Or(strings.TrimSpace(f.reason), b.Reason)
	b.Until = cmp.Or(f.until, b.Until)
	if b.Until != "" && b.Until < today {
		return nil, fmt.Errorf("--write-baseline: %s accepts findings until %s, which is over: give another day with --until", f.write, b.Until)
	}
	b.Path = f.write
	return b, nil
}

// writeBaseline writes a run's baseline to its path.
func writeBaseline(b *accept.Baseline) error {
	if err := worktree.WriteFile(b.Path, func(w io.Writer) error { return report.Encode(w, b) }); err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	return nil
}

// onlyHere reports whether all paths refer to the working directory.
func onlyHere(dir string, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		if path == "-" {
			return true
		}
		at, err := os.Stat(worktree.Absolute(dir, path))
		here, hereErr := os.Stat(dir)
		return err != nil || hereErr != nil || !os.SameFile(at, here)
	})
}

// outcome returns the exit status of a run. Errors and failures take precedence over findings.
func outcome(r *diag.Report, failOn string, err error) error {
	code := failed(r.Failures)
	if err != nil {
		return statusError{max(code, exitUsage), err}
	}
	if code != exitClean {
		return statusError{code: code}
	}
	if failOn != "none" && r.Worst().Rank() >= diag.Level(failOn).Rank() {
		return statusError{code: exitFindings}
	}
	return nil
}
