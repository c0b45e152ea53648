package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// lintFlags are the flags of the lint command.
type lintFlags struct {
	topology, ruleDirs, survive []string
	config, failOn, category    string
	fix, failOnUnknown          string
	sourceRoot                  string
	outputs                     outputs
	accept                      acceptFlags
	quiet, all, verbose         bool
	steps                       float64
	render                      renderFlags
	failOnUnrendered            bool
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

Nodes: --topology names the nodes to check against, either the output of
kubectl get nodes -o yaml or a NodeTopology file.

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
introduced since a git revision. --config-from reads the configuration and
accepted findings from a git revision, so a change cannot silence its own
findings.

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
     far); or no workload checked at a path you named although skipped files may
     contain workloads
  3  internal error`,
		Example: `  schedlint lint --topology nodes.yaml manifests
  schedlint lint -t nodes.yaml -k deploy/overlays/prod
  helm template . | schedlint lint -t nodes.yaml -
  schedlint lint --fix=diff manifests | git apply`,
		RunE: func(cmd *cobra.Command, args []string) error { return runLint(cmd, args, &f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.topology, "topology", "t", nil, "node `file`: Nodes or a NodeTopology (repeatable)")
	flags.StringArrayVar(&f.ruleDirs, "rules", nil, "`directory` with your own Rego rules (repeatable)")
	addTracked(flags)
	flags.Var(fileFlag{&f.config}, "config", "configuration `file` (default: "+config.Name+" in the working directory or a parent)")
	f.render.add(flags)
	addUnrendered(flags, &f.failOnUnrendered)
	flags.Var(dirFlag{&f.sourceRoot}, "source-root", "`directory` that the input was rendered from; findings are reported in its files (default: the working directory, matching objects by name)")
	flags.Var(keyFlag{&f.survive}, "survive", "require every workload to survive the loss of any one domain of this topology `key`: node, zone, region or a label key (repeatable)")
	flags.Var(choiceFlag{&f.failOn, config.FailLevels()}, "fail-on", "lowest `level` that fails the run: "+strings.Join(config.FailLevels(), ", ")+" (default error)")
	addSteps(flags, &f.steps)
	addFailUnknown(flags, &f.failOnUnknown)
	f.accept.add(flags)
	addFix(flags, &f.fix)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print findings only, nothing if there are none")
	flags.BoolVar(&f.all, "all", false, "show every location of repeated findings (text, markdown) and lift the 4 MiB limit on findings (text)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list the locations of skipped files, unchecked objects and undecided questions")
	formatsVar(flags, &f.outputs, report.Formats())
	flags.Var(categoryFlag{&f.category}, "sarif-category", "`name` that distinguishes several code scanning runs (default: set by the upload)")
	return cmd
}

func runLint(cmd *cobra.Command, args []string, f *lintFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	options, from, err := f.options(cmd, args)
	if err != nil {
		return err
	}
	defer from.remove()
	if err := f.accept.known(&options); err != nil {
		return err
	}
	now, differs, err := f.judge(cmd, options, from)
	if now == nil {
		return err
	}
	switch {
	case err != nil: // half of the findings is no baseline, and says little of a change
	case f.accept.write != "" && !now.report.Complete():
		err = errPart
	case f.accept.write != "":
		err = writeBaseline(options.Baseline)
	case f.accept.since != "":
		err = now.since(cmd.Context(), f)
	}
	if from != nil {
		from.announce(now.report)
		err = from.clean(err)
	}
	r := now.report
	undone := slices.Clone(r.Failures)
	if err != nil { // before the report, which says that it is incomplete
		printErrors(cmd.ErrOrStderr(), err)
		for _, line := range lines(err) {
			r.Failures.Add(diag.Failure{Stage: diag.StageRead, Message: line})
		}
	}
	if f.outputs.has(report.NeedsRules) {
		r.Rules = enabled(now.engine, options.Config)
	}
	writeErr := f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, color bool) error {
		return report.Write(w, format, r, report.Options{Color: color, Quiet: f.quiet, All: f.all, Verbose: f.verbose, Category: f.category})
	})
	f.outputs.tell(cmd.ErrOrStderr(), undone)
	failOn := cmp.Or(f.failOn, options.Config.FailOn, "error")
	if err := outcome(r, failOn, writeErr); err != nil {
		return err
	}
	switch {
	case len(r.Summary.Unjudged()) > 0 && !onlyHere(options.Dir, options.Paths):
		return statusError{exitUsage, errUnjudged}
	case f.accept.failOnSilenced && now.silences > 0:
		return statusError{exitFindings, fmt.Errorf("the change silences findings: %s (--fail-on-silenced)", plural(now.silences, "place"))}
	case f.failOnUnrendered && r.Summary.Unrendered > 0:
		return statusError{exitFindings, unrendered(r.Summary.Unrendered)}
	case differs && failOn != "none", diag.Unsettled(r.Summary.Unknown, f.failOnUnknown):
		return statusError{code: exitFindings}
	}
	return nil
}

// check refuses flags that do not go together.
func (f *lintFlags) check() error {
	if err := f.outputs.check(); err != nil {
		return err
	}
	if f.category != "" && !f.outputs.has(func(format string) bool { return format == "sarif" }) {
		return errors.New("--sarif-category: no output has the format sarif")
	}
	if err := f.accept.check(f.fix != ""); err != nil {
		return err
	}
	return f.diffOnly()
}

// judge judges the work tree. The result is nil if the rules could not be loaded.
func (f *lintFlags) judge(cmd *cobra.Command, o lint.Options, from *policySource) (now *judged, differs bool, err error) {
	own := ruleSource{dirs: f.ruleDirs}
	if from != nil {
		own = from.rules
	}
	now, err = judge(o, own, func(o lint.Options) (r *diag.Report, err error) {
		if from != nil {
			from.admit(cmd.Context(), &o, f)
		}
		r, differs, err = f.run(cmd, o)
		return r, err
	})
	if now != nil {
		now.from = from
	}
	return now, differs, err
}

// options are those of a run on the work tree, and the revision that they come from
// if one was named.
func (f *lintFlags) options(cmd *cobra.Command, args []string) (o lint.Options, from *policySource, err error) {
	conf := loadConfig
	if f.accept.configFrom != "" { // what the work tree says is not even read
		conf = func(string) (*config.Config, error) { return &config.Config{}, nil }
	}
	if o, err = inputBy(cmd, args, f.topology, f.config, conf); err != nil {
		return o, nil, err
	}
	if err := fixable(f.fix, args); err != nil {
		return o, nil, err
	}
	o.Steps = f.steps
	o.Survive, o.SourceRoot, o.Compared = f.survive, f.sourceRoot, f.accept.since != ""
	if err = f.accept.apply(&o); err == nil && f.accept.configFrom != "" {
		from, err = f.from(&o)
	}
	if err == nil {
		err = f.render.apply(&o, len(args) == 0)
	}
	return o, from, err
}

// errUnjudged ends a run on a path that somebody meant to have judged.
var errUnjudged = errors.New(report.NothingChecked)

// errPart keeps part of the findings from passing for all of them.
var errPart = errors.New("--write-baseline: the run is incomplete, so no baseline is written")

// onlyHere reports whether all paths are the working directory.
func onlyHere(dir string, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		if path == "-" {
			return true
		}
		at, err := os.Stat(absolute(dir, path))
		here, hereErr := os.Stat(dir)
		return err != nil || hereErr != nil || !os.SameFile(at, here)
	})
}

// input is what every command that reads manifests starts from: the paths, or
// the working directory, the topology and the configuration.
func input(cmd *cobra.Command, args, topology []string, configPath string) (lint.Options, error) {
	return inputBy(cmd, args, topology, configPath, loadConfig)
}

// inputBy is input with another way to get at the configuration.
func inputBy(cmd *cobra.Command, args, topology []string, configPath string, load func(path string) (*config.Config, error)) (lint.Options, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	if err := oneReader(args, topology); err != nil {
		return lint.Options{}, err
	}
	conf, err := load(configPath)
	if err != nil {
		return lint.Options{}, err
	}
	dir, err := os.Getwd()
	options := lint.Options{Dir: dir, Root: repositoryRoot(dir), Paths: args, Topology: topology, Stdin: cmd.InOrStdin(), Config: conf}
	if tracked, _ := cmd.Flags().GetBool(trackedFlag); tracked && err == nil {
		err = onlyTracked(&options)
	}
	return options, err
}

// outcome is the exit status: errors and what was not done outrank findings.
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

// oneReader refuses to read standard input twice.
func oneReader(paths, topology []string) error {
	if slices.Contains(paths, "-") && slices.Contains(topology, "-") {
		return errors.New("standard input holds either the manifests or the topology: name a file for one of them")
	}
	return nil
}

// loadConfig reads the configuration that was named, or else the next one
// upwards, which errors name as seen from here.
func loadConfig(path string) (*config.Config, error) {
	if path != "" {
		return config.Load(path)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if path = config.Find(dir); path == "" {
		return &config.Config{}, nil
	}
	return config.LoadFound(seen(dir, path), "")
}

// repositoryRoot is the root of the work tree around dir, or dir itself.
func repositoryRoot(dir string) string {
	if root, ok := worktree.Root(dir); ok {
		return root
	}
	return dir
}
