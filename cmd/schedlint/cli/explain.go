package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
)

type explainFlags struct {
	inputFlags
	ruleDirs, paths  []string
	stdin, namespace string
}

// stdinFlag is the name of a hidden flag for a location in standard input. The user writes -:LINE
// as an argument. cobra parses -: as the short form of this flag.
const stdinFlag = "stdin"

func newExplain() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain FILE:LINE [RULE] | KIND/NAME [PATH...]",
		Short: "Explain a finding or a workload node by node",
		Long: `Explain takes a position as lint prints it, FILE:LINE or FILE:LINE:COLUMN. For
each declared node it says whether the next pod can be scheduled there, which
kube-scheduler filter rejects it and why. It also shows the effect of each
suggested fix. RULE selects one of several findings on the line. On a line
without findings, explain describes the workload at that line.

KIND/NAME names a workload instead, as in deployment/web or sts/db. Explain then
prints what place says about it, and explains all its findings. --namespace
chooses one of several. PATH is as for lint.

Findings depend on all declared objects, so pass lint's paths with --path. The
default is the working directory, or the directory of FILE if FILE is outside
it. FILE can be - for standard input.

Exit status:
  0  something was explained
  2  usage error, missing input, nothing to explain at that position, or an
     incomplete run, such as after a rule failed
  3  internal error`,
		Example: `  schedlint explain --topology nodes.yaml manifests/web.yaml:18
  schedlint explain -t nodes.yaml -n shop deployment/web manifests
  helm template . | schedlint explain -t nodes.yaml -:18 rollout-deadlock`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && isWorkload(args[0]) {
				return nil
			}
			return cobra.RangeArgs(1, 2)(cmd, f.args(args))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 && isWorkload(args[0]) {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if len(f.args(args)) == 1 {
				return ruleIDs(f.ruleDirs, f.config), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runExplain(cmd, f.args(args), &f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "`namespace` of the workload KIND/NAME, and of the release of each --helm")
	f.inputFlags.add(flags)
	addRules(flags, &f.ruleDirs)
	flags.StringArrayVar(&f.paths, "path", nil, "`path` that lint was given (repeatable; default: the working directory)")
	flags.Var(keys(&f.survive), "survive", "require every workload to survive the loss of any one domain of this topology `key`: node, zone, region or a label key (repeatable)")
	flags.StringVarP(&f.stdin, stdinFlag, ":", "", "")
	if err := flags.MarkHidden(stdinFlag); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// args returns the arguments, preceded by the location in standard input if there is one.
func (f *explainFlags) args(rest []string) []string {
	if f.stdin == "" {
		return rest
	}
	return append([]string{"-:" + f.stdin}, rest...)
}

func runExplain(cmd *cobra.Command, args []string, f *explainFlags) error {
	spot, paths, err := f.target(args)
	if err != nil {
		return err
	}
	if len(f.render.Charts) > 0 {
		f.render.Settings.Namespace = f.namespace
	}
	options, err := f.options(cmd, paths, len(paths) == 0)
	if err != nil {
		return err
	}
	expectFacts(f.ruleDirs, options.Config)
	engine, err := policy.Load(policy.Source{Dirs: f.ruleDirs}, options.Config)
	if err != nil {
		return err
	}
	if spot.Rule != "" {
		if err := runs(engine, options.Config, spot.Rule); err != nil {
			return err
		}
	}
	options.Policy, options.Today, options.Level = engine, today(), engine.Level
	var stop func()
	options.Progress, stop = progress(cmd.ErrOrStderr())
	defer stop()
	x, err := lint.Explain(cmd.Context(), options, spot)
	stop()
	switch {
	case x == nil:
		return err
	case err != nil:
		printFailures(cmd.ErrOrStderr(), x.Failures)
		return statusError{max(exitUsage, failed(x.Failures)), err}
	}
	for i := range x.Found {
		if d := x.Found[i].Diagnostic; d != nil {
			x.Found[i].Rule, _ = engine.Rule(d.Rule)
		}
	}
	if err := report.WriteExplanation(cmd.OutOrStdout(), x); err != nil {
		return err
	}
	return incomplete(x.Failures)
}

// isWorkload reports whether an argument names a workload, as in deployment/web.
func isWorkload(arg string) bool {
	_, err := os.Stat(arg)
	_, notSpot := parseSpot(arg)
	kind, name, ok := strings.Cut(arg, "/")
	return ok && err != nil && notSpot != nil && kind != "" && name != "" && !strings.Contains(name, "/")
}

// target returns what the arguments ask to explain, and the paths to read.
func (f *explainFlags) target(args []string) (spot lint.Spot, paths []string, err error) {
	if isWorkload(args[0]) {
		spot.Namespace = f.namespace
		spot.Kind, spot.Name, _ = strings.Cut(args[0], "/")
		return spot, slices.Concat(args[1:], f.paths), nil
	}
	if spot, err = parseSpot(args[0]); err != nil {
		return spot, nil, err
	}
	if f.namespace != "" && len(f.render.Charts) == 0 {
		return spot, nil, errors.New("--namespace belongs to KIND/NAME and to --helm")
	}
	if len(args) > 1 {
		spot.Rule = args[1]
	}
	paths, err = explainPaths(spot.File, f.paths)
	return spot, paths, err
}

// runs returns an error if the rule is not enabled.
func runs(engine *rego.Engine, conf *config.Config, id string) error {
	rule, ok := engine.Rule(id)
	switch {
	case !ok:
		return policy.Unknown(engine, id)
	case slices.Contains(engine.Packs(), rule.Pack) && !slices.Contains(conf.Packs(), rule.Pack) && !engine.Runs(id):
		return fmt.Errorf("the rule %s is off: add - pack: %s to policies in %s", id, rule.Pack, config.Name)
	case conf.Off(id, engine.Level(id)):
		return fmt.Errorf("the rule %s is off: give it a level in %s", id, config.Name)
	}
	return nil
}

// parseSpot parses FILE:LINE or FILE:LINE:COLUMN. It starts from the end, because file names can
// contain colons, for example after a drive letter.
func parseSpot(text string) (lint.Spot, error) {
	rest, last, ok := cutNumber(strings.TrimRight(text, ":"))
	if !ok {
		return lint.Spot{}, fmt.Errorf("%s: expected FILE:LINE, as in manifests/web.yaml:18, or KIND/NAME, as in deployment/web", text)
	}
	spot := lint.Spot{File: rest, Line: last}
	if file, line, ok := cutNumber(rest); ok {
		spot = lint.Spot{File: file, Line: line, Column: last}
	}
	return spot, nil
}

// cutNumber splits text at the last colon if a number follows it.
func cutNumber(text string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil && n >= 0
}

// explainPaths returns the paths that the user ran lint on. If --path is not set, it guesses the
// paths. For a location in standard input, it returns standard input. For a file below the working
// directory, it returns the working directory. For any other file, it returns the file's directory.
func explainPaths(file string, paths []string) ([]string, error) {
	stdin := file == "-" || file == source.StdinName
	if !stdin {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file", file)
		}
		if err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a directory: expected FILE:LINE, as in manifests/web.yaml:18", file)
		}
	}
	switch {
	case stdin && len(paths) == 0:
		return []string{"-"}, nil
	case stdin && !slices.Contains(paths, "-"):
		return nil, errors.New("--path: a place in standard input needs the path -")
	case len(paths) > 0:
		return paths, nil
	}
	if worktree.Local(file) {
		return []string{"."}, nil
	}
	dir, err := os.Getwd()
	if err == nil && filepath.IsAbs(file) && worktree.Inside(dir, file) {
		return []string{"."}, nil
	}
	return []string{filepath.Dir(file)}, nil
}
