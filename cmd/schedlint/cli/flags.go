package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/revision"
)

// value is a flag that is set by calling a function.
type value struct {
	set   func(s string) error
	kind  string   // type name; shells can complete a stringArray more than once
	words []string // words for shell completion, or nil to complete file names
}

func (value) String() string       { return "" }
func (v value) Type() string       { return v.kind }
func (v value) Set(s string) error { return v.set(s) }

// checked returns a string flag. The function ok decides whether a string is valid.
func checked(to *string, want string, ok func(s string) bool) value {
	return value{kind: "string", set: func(s string) error {
		if !ok(s) {
			return errors.New("expected " + want)
		}
		*to = s
		return nil
	}}
}

// named returns a flag for a non-empty string. If the empty string were allowed, an unset shell
// variable would go unnoticed.
func named(to *string, what string) value {
	return checked(to, what, func(s string) bool { return s != "" })
}

func file(to *string) value { return named(to, "a file name") }
func dir(to *string) value  { return named(to, "a directory") }

// choice returns a flag that accepts one of the given words.
func choice(to *string, words []string) value {
	return value{kind: "string", words: words, set: func(s string) error {
		*to = s
		return oneOf(s, words)
	}}
}

// oneOf returns an error if word is not in words.
func oneOf(word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("expected one of %s%s", strings.Join(words, ", "), diag.Question(diag.Nearest(word, words)))
}

// keys returns a repeatable flag that accepts topology keys and the words node, zone and region.
func keys(to *[]string) value {
	return value{kind: "stringArray", words: []string{"node", "zone", "region"}, set: func(s string) error {
		key, err := config.TopologyKey(s)
		if err == nil {
			*to = append(*to, key)
		}
		return err
	}}
}

// maxFactor is the maximum factor for step budgets. The limit prevents overflows.
const maxFactor = 1_000_000

// inputFlags holds the flags shared by all commands that check manifests.
type inputFlags struct {
	topology, survive []string
	config            string
	tracked           bool
	steps             float64
	runs              uint
	render            inputs.Choice
}

func (f *inputFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&f.topology, "topology", "t", nil, "node `file`: Nodes, a NodeTopology or a file that docs/nodes.md lists (repeatable)")
	addConfig(flags, &f.config)
	flags.BoolVar(&f.tracked, trackedFlag, false, "read only files that git tracks, as in a commit hook (files named by --topology are always read)")
	flags.Var(value{kind: "factor", words: []string{}, set: func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > 0 && n <= maxFactor) {
			return fmt.Errorf("expected a number above 0, at most %d, found %q", maxFactor, s)
		}
		f.steps = n
		return nil
	}}, "steps", "multiply the step budget of each question by this `factor`; 10 searches up to ten times longer (default 1)")
	flags.UintVar(&f.runs, "runs", simulatedRuns, "`number` of simulated runs of kube-scheduler that show how likely an uncertain outcome is; 0 for none")
	f.addRenders(flags, flags.Lookup("namespace") == nil, "to render and check; without a PATH nothing else is checked")
	flags.Var(choice(&f.render.Mode, []string{inputs.Auto, inputs.Off, inputs.Only}), "render", "`mode`: auto renders the kustomizations and charts it finds and checks other files as written, off renders none, only checks renders only (default auto)")
}

// addRenders adds the flags that name what to render. The argument namespaced is set if the command
// has no flag --namespace of its own. purpose says what the flags are for.
func (f *inputFlags) addRenders(flags *pflag.FlagSet, namespaced bool, purpose string) {
	flags.StringArrayVarP(&f.render.Dirs, "kustomize", "k", nil, "kustomization `directory` "+purpose+" (repeatable)")
	flags.StringArrayVar(&f.render.Charts, "helm", nil, "Helm `chart[=values,...]`, a directory and values files from the working directory, "+purpose+" (repeatable)")
	flags.Var(checked(&f.render.Release, "the name of a Helm release: at most 53 lower case letters, digits, dashes and dots", chartutil.IsReleaseName), "release-name", "release `name` of the charts for which nothing else sets one (default "+chart.DefaultRelease+")")
	set := &f.render.Settings
	if namespaced {
		flags.VarP(checked(&set.Namespace, "the name of a namespace", chartutil.IsNamespace), "namespace", "n", "`namespace` of the release of each --helm (default default)")
	}
	flags.Var(helmSet(&set.Set, false), "set", "`key=value,...` that overrides values of each --helm (repeatable)")
	flags.Var(helmSet(&set.SetString, true), "set-string", "`key=value,...` like --set, but the values are strings (repeatable)")
	flags.Var(accepted(&set.KubeVersion, chart.CheckKubeVersion), "kube-version", "`version` of Kubernetes that each --helm sees (default: kubernetes of the configuration, or "+chart.DefaultKubeVersion+")")
	flags.StringSliceVar(&set.APIVersions, "api-versions", nil, "API `versions` that each --helm sees in addition to those that Helm assumes (repeatable)")
	flags.Var(accepted(&set.HelmVersion, chart.CheckHelmVersion), "helm-version", "`version` of Helm that each --helm sees, 3 or 4 (default "+chartutil.DefaultHelmVersion+")")
}

// accepted returns a string flag. The function check returns an error for an invalid string.
func accepted(to *string, check func(s string) error) value {
	return value{kind: "string", words: []string{}, set: func(s string) error {
		*to = s
		return check(s)
	}}
}

// helmSet returns a repeatable flag for values, in the syntax of --set or --set-string.
func helmSet(to *[]string, text bool) value {
	return value{kind: "stringArray", words: []string{}, set: func(s string) error {
		*to = append(*to, s)
		return chart.CheckSet(s, text)
	}}
}

// simulatedRuns is the default number of simulated runs.
const simulatedRuns = 200

// options returns the options for a run: the paths, the topology, the configuration and the
// renders. The paths default to the working directory.
func (f *inputFlags) options(cmd *cobra.Command, args []string, pathless bool) (lint.Options, error) {
	if err := f.render.Check(len(f.render.Charts)); err != nil {
		return lint.Options{}, err
	}
	o, err := f.read(cmd, args, config.Choose)
	if err == nil {
		err = f.render.Apply(cmd.Context(), &o, pathless)
	}
	return o, err
}

// read returns the options without the renders. It reads the configuration by calling load.
func (f *inputFlags) read(cmd *cobra.Command, args []string, load func(path string) (*config.Config, error)) (lint.Options, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	if slices.Contains(args, "-") && slices.Contains(f.topology, "-") {
		return lint.Options{}, errors.New("standard input holds either the manifests or the topology: name a file for one of them")
	}
	conf, err := load(f.config)
	if err != nil {
		return lint.Options{}, err
	}
	o := lint.Options{Paths: args, Topology: f.topology, Stdin: cmd.InOrStdin(), Config: conf, Survive: f.survive, Steps: f.steps, Runs: int(f.runs)}
	o.Dir, err = os.Getwd()
	o.Root = inputs.Repository(o.Dir)
	if f.tracked && err == nil {
		err = onlyTracked(&o)
	}
	return o, err
}

const trackedFlag = "git-tracked"

// onlyTracked restricts the input to files that git tracks.
func onlyTracked(o *lint.Options) error {
	if slices.Contains(o.Paths, "-") {
		return errors.New("--" + trackedFlag + ": git does not track standard input: name files or directories")
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return err
	}
	names, err := revision.Files(dir)
	if err != nil {
		return fmt.Errorf("--%s: asking git what it tracks: %w", trackedFlag, err)
	}
	tracked := map[string]bool{}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		for !tracked[path] { // also marks the parent directories
			tracked[path] = true
			path = filepath.Dir(path)
		}
	}
	o.Tracked = func(path string) bool { return tracked[path] }
	return nil
}

func addConfig(flags *pflag.FlagSet, to *string) {
	flags.Var(file(to), "config", "configuration `file` (default: "+config.Name+" in the working directory or a parent)")
}

func addRules(flags *pflag.FlagSet, to *[]string) {
	flags.StringArrayVar(to, "rules", nil, "`directory` with your own Rego rules (repeatable)")
}

// failFlags holds the flags that make a run fail for reasons other than findings.
type failFlags struct {
	unknown    string
	unrendered bool
}

func (f *failFlags) add(flags *pflag.FlagSet) {
	words := []string{diag.FailNone, diag.FailBudget, diag.FailPlacement, diag.FailAny}
	flags.Var(choice(&f.unknown, words), "fail-on-unknown", "undecided `questions` that fail the run: "+strings.Join(words, ", ")+"; budget: the step budget was exceeded; placement: place cannot tell whether all pods of a workload are placed; any: all questions but placement (default none)")
	flags.BoolVar(&f.unrendered, "fail-on-unrendered", false, "fail the run if a kustomization, chart or GitOps pointer under the paths cannot be rendered")
}

// onUnrendered returns an error if inputs did not render and the flags do not allow this. The
// argument n is the number of such inputs.
func (f *failFlags) onUnrendered(n int) error {
	if !f.unrendered || n == 0 {
		return nil
	}
	return statusError{exitFindings, fmt.Errorf("%s cannot be rendered (--fail-on-unrendered)", report.Count(n, "input"))}
}

// flagError adds a suggestion to an error about an unknown flag: a similar flag of the same
// command, or a subcommand that has the flag.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	name, _, _ = strings.Cut(name, "=")
	err = fmt.Errorf("unknown flag --%s", name)
	if near := diag.Nearest(name, flagNames(cmd)); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	subs := cmd.Commands()
	if most, _, err := cmd.Find([]string{"lint"}); err == nil { // if several commands have the flag, suggest lint
		subs = append([]*cobra.Command{most}, subs...)
	}
	for _, sub := range subs {
		if slices.Contains(flagNames(sub), name) {
			return fmt.Errorf("%w; did you mean %s --%s?", err, sub.CommandPath(), name)
		}
	}
	return err
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// addCompletion registers shell completions for all flags. It derives the completions from the
// flags' types. Without a completion, shells would complete file names.
func addCompletion(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		v, _ := f.Value.(value)
		words, directive := v.words, cobra.ShellCompDirectiveNoFileComp
		switch {
		case f.Name == "rules":
			directive = cobra.ShellCompDirectiveFilterDirs
		case words == nil:
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, directive)); err != nil {
			panic(err) // the flag exists and has no other completion
		}
	})
	for _, sub := range cmd.Commands() {
		addCompletion(sub)
	}
}

// ruleIDs returns completions for rule ids, including their titles. If the rules fail to load, it
// returns nil, because a shell cannot show errors.
func ruleIDs(dirs []string, named string) []cobra.Completion {
	dirs = slices.Compact(slices.Sorted(slices.Values(dirs))) // cobra parses the flags twice before calling this function
	conf, err := config.Choose(named)
	if err != nil {
		conf = &config.Config{}
	}
	engine, err := policy.Load(policy.Source{Dirs: dirs, Listed: true}, conf)
	if err != nil {
		return nil
	}
	return lists.Of(engine.Rules(), func(r diag.Rule) cobra.Completion { return cobra.CompletionWithDesc(r.ID, report.Visible(r.Title)) })
}

// helpWidth is the width of help text in columns.
const helpWidth = 80

// usage prints the same text as cobra, but wraps the flag descriptions.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(w, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n  %s [command]", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\n\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\nCommands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprint(w, "\n\nFlags:\n", strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(helpWidth), " \n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n\nUse \"%s [command] --help\" for more about a command.", cmd.CommandPath())
	}
	fmt.Fprintln(w)
	return nil
}
