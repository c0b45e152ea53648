package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// lintFlags are the flags of the lint command.
type lintFlags struct {
	topology, ruleDirs []string
	config, failOn     string
	outputs            outputs
}

func newLint() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Lint manifests: files, directories, or - for standard input",
		Long: `Lint reads manifests from files, directories (recursively: .yaml, .yml, .json)
and, for the path -, from standard input; without a path, from the working
directory. With --topology it judges them against the nodes that are declared
there: v1 Nodes as kubectl prints them, or the compact NodeTopology.

Exit status: 0 clean, 1 findings at or above --fail-on, 2 wrong usage, missing
input, topology, configuration or policy, 3 internal failure.`,
		Example: `  schedlint lint --topology nodes.yaml manifests
  kustomize build overlay | schedlint lint --topology nodes.yaml -
  helm template . | schedlint lint -t nodes.yaml -`,
		RunE: func(cmd *cobra.Command, args []string) error { return runLint(cmd, args, &f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.topology, "topology", "t", nil, "`file` that declares the nodes (repeatable)")
	flags.StringArrayVar(&f.ruleDirs, "rules", nil, "`directory` with rules of your own (repeatable)")
	flags.StringVar(&f.config, "config", "", "configuration `file` (default: "+config.Name+" in this directory or above)")
	flags.StringVar(&f.failOn, "fail-on", "", "lowest level that fails the run: "+strings.Join(config.FailLevels(), ", ")+" (default error)")
	flags.Var(formatFlag{&f.outputs}, "format", "output `format`: "+strings.Join(report.Formats(), ", ")+" (default text; repeatable, each with its own --output)")
	flags.Var(outputFlag{&f.outputs}, "output", "`file` for the format before it (default: standard output)")
	return cmd
}

func runLint(cmd *cobra.Command, args []string, f *lintFlags) error {
	conf, err := loadConfig(f.config)
	if err != nil {
		return err
	}
	failOn, err := f.failLevel(conf)
	if err != nil {
		return err
	}
	if err := f.outputs.check(); err != nil {
		return err
	}
	engine, err := loadRules(f.ruleDirs, conf)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	r, runErr := lint.Run(cmd.Context(), lint.Options{
		Dir: dir, Root: repositoryRoot(dir), Paths: args, Topology: f.topology, Stdin: cmd.InOrStdin(), Config: conf, Policy: engine,
		Level: func(rule string) diag.Level { return level(engine, conf, rule) },
	})
	r.Version = version
	if f.outputs.needRules() {
		r.Rules = enabled(engine, conf)
	}
	writeErr := f.outputs.write(r, cmd.OutOrStdout())
	return outcome(r, failOn, errors.Join(runErr, writeErr))
}

// outcome is the exit status: errors outrank findings.
func outcome(r *diag.Report, failOn string, err error) error {
	if err != nil {
		return statusError{exitUsage, err}
	}
	if failOn != "none" && r.Worst().Rank() >= diag.Level(failOn).Rank() {
		return statusError{code: exitFindings}
	}
	return nil
}

func loadConfig(path string) (*config.Config, error) {
	if path == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		if path = config.Find(dir); path == "" {
			return &config.Config{}, nil
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return config.Load(abs)
}

// failLevel is --fail-on, or what the configuration says, or error.
func (f *lintFlags) failLevel(conf *config.Config) (string, error) {
	word := f.failOn
	if word == "" {
		word = conf.FailOn
	}
	if word == "" {
		word = "error"
	}
	if !slices.Contains(config.FailLevels(), word) {
		return "", fmt.Errorf("--fail-on: expected one of %s, found %q", strings.Join(config.FailLevels(), ", "), word)
	}
	return word, nil
}

// loadRules loads the built-in rules and those of the team, and checks the
// rule ids in the configuration against them.
func loadRules(dirs []string, conf *config.Config) (*rego.Engine, error) {
	off := map[string]bool{}
	for id, l := range conf.Rules {
		if l.Level == diag.LevelOff {
			off[id] = true
		}
	}
	engine, err := rego.Load(rego.Options{Rules: rules.FS, Dirs: dirs, Off: off})
	if err != nil {
		return nil, fmt.Errorf("loading rules: %w", err)
	}
	var errs []error
	for id := range conf.Rules {
		if _, ok := engine.Rule(id); ok {
			continue
		}
		text := fmt.Sprintf("%s: rules: unknown rule %q", filepath.Join(conf.Dir, config.Name), id)
		if near := diag.Nearest(id, engine.IDs()); near != "" {
			text += "; did you mean " + near + "?"
		}
		errs = append(errs, errors.New(text))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return engine, errors.Join(errs...)
}

// level is what the configuration says of a rule, or what its category gives.
func level(engine *rego.Engine, conf *config.Config, id string) diag.Level {
	if l, ok := conf.Rules[id]; ok {
		return l.Level
	}
	rule, _ := engine.Rule(id)
	return rule.Level
}

// enabled are the rules that ran, with their levels.
func enabled(engine *rego.Engine, conf *config.Config) []diag.Rule {
	var all []diag.Rule
	for _, rule := range engine.Rules() {
		if rule.Level = level(engine, conf, rule.ID); rule.Level != diag.LevelOff {
			all = append(all, rule)
		}
	}
	return all
}

// repositoryRoot is the directory with .git, from dir upwards, or dir itself.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// output is one format and where it goes; an empty path is standard output.
type output struct{ format, path string }

// outputs pairs formats with files in the order in which the flags come: an
// --output belongs to the --format before it, or to the next one.
type outputs []output

type formatFlag struct{ to *outputs }
type outputFlag struct{ to *outputs }

var _, _ pflag.Value = formatFlag{}, outputFlag{}

func (formatFlag) String() string { return "" }
func (formatFlag) Type() string   { return "string" }
func (f formatFlag) Set(s string) error {
	if !slices.Contains(report.Formats(), s) {
		text := fmt.Sprintf("expected one of %s", strings.Join(report.Formats(), ", "))
		if near := diag.Nearest(s, report.Formats()); near != "" {
			text += "; did you mean " + near + "?"
		}
		return errors.New(text)
	}
	if last := len(*f.to) - 1; last >= 0 && (*f.to)[last].format == "" {
		(*f.to)[last].format = s
		return nil
	}
	*f.to = append(*f.to, output{format: s})
	return nil
}

func (outputFlag) String() string { return "" }
func (outputFlag) Type() string   { return "string" }
func (f outputFlag) Set(s string) error {
	if s == "" {
		return errors.New("expected a file name")
	}
	if last := len(*f.to) - 1; last >= 0 && (*f.to)[last].path == "" && (*f.to)[last].format != "" {
		(*f.to)[last].path = s
		return nil
	}
	*f.to = append(*f.to, output{path: s})
	return nil
}

// check refuses two outputs to one place; none at all is text.
func (o *outputs) check() error {
	if len(*o) == 0 {
		*o = outputs{{}}
	}
	seen := map[string]bool{}
	for i := range *o {
		out := &(*o)[i]
		if out.format == "" {
			out.format = "text"
		}
		if out.path == "-" {
			out.path = ""
		}
		if seen[out.path] {
			return fmt.Errorf("two formats go to %s: give each its own --output", cmpOr(out.path, "standard output"))
		}
		seen[out.path] = true
	}
	return nil
}

func cmpOr(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// needRules reports whether some format lists all rules.
func (o outputs) needRules() bool {
	return slices.ContainsFunc(o, func(out output) bool { return out.format == "sarif" })
}

// write renders the report once for every output; one that fails does not
// keep the others from being written.
func (o outputs) write(r *diag.Report, stdout io.Writer) error {
	var errs []error
	for _, out := range o {
		var buf bytes.Buffer
		err := report.Write(&buf, out.format, r, report.Options{Color: out.path == "" && colour(stdout)})
		if err == nil && out.path == "" {
			_, err = stdout.Write(buf.Bytes())
		} else if err == nil {
			err = os.WriteFile(out.path, buf.Bytes(), 0o644)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", out.format, err))
		}
	}
	return errors.Join(errs...)
}

// colour reports whether the writer is a terminal that wants colour
// (no-color.org).
func colour(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != "null"
}
