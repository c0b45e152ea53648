package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

type sizeFlags struct {
	inputFlags
	asks    []string
	others  []string
	max     map[string]int
	atMin   bool
	check   bool
	write   bool
	grow    []string
	all     bool
	outputs outputs
}

// sizeQuestions lists the words of --for.
func sizeQuestions() []string { return []string{"fits", "rolls", "drains", "survives"} }

func newSize() *cobra.Command {
	f := sizeFlags{max: map[string]int{}}
	cmd := &cobra.Command{
		Use:   "size [PATH...]",
		Short: "Find how many nodes of each pool are enough",
		Long: `Size finds the cheapest numbers of nodes of the declared pools for which all
pods fit, rollouts complete and drains end, whatever the scheduler chooses. Each
size is decided as place decides it. A pool has from min to max nodes; without
min it may be empty, and without max the limit is a number that should be enough
for the requests, or --max. Every node costs 1 unless a pool has cost.

Nodes are spread evenly over the zones of a pool, and the answer holds whichever
zones have the remainder. The declared number of nodes keeps its zones.

A size is minimal if every cheaper size was refuted. Otherwise the number of
cheaper sizes that are undecided is printed. More nodes are not always enough
where fewer are: a further zone can break a spread constraint.

Exit status (the highest applies):
  0  a size that is enough was found; with --check, the declared sizes are
     enough, or it is not known whether they are
  1  no size is enough, or none is known to be; with --check, the declared sizes
     are not enough
  2  usage error, missing input or topology, or an incomplete run
  3  internal error`,
		Example: `  schedlint size --topology nodes.yaml manifests
  schedlint size -t nodes.yaml --for fits --max general=20 .
  schedlint size -t nodes.yaml --survive zone --check .
  schedlint size -t nodes.yaml --write manifests`,
		RunE: func(cmd *cobra.Command, args []string) error { return runSize(cmd, args, &f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.outputs.add(flags, report.SizeFormats())
	flags.Var(value{kind: "questions", words: sizeQuestions(), set: func(s string) error {
		f.asks = strings.Split(s, ",")
		for _, word := range f.asks {
			if err := oneOf(word, sizeQuestions()); err != nil {
				return err
			}
		}
		return nil
	}}, "for", "`questions` to answer with yes, separated by commas: "+strings.Join(sizeQuestions(), ", ")+" (default fits,rolls,drains; fits is always asked)")
	flags.Var(keys(&f.survive), "survive", "ask about the loss of any one domain of this topology `key`: node, zone, region or a label key (repeatable; default node if --for has survives)")
	flags.Var(value{kind: "pool=number", words: []string{}, set: func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(text)
		if name == "" || err != nil || n < 0 || n > maxPoolSize {
			return fmt.Errorf("expected the name of a pool, = and a number from 0 to %d, found %q", maxPoolSize, s)
		}
		f.max[name] = n
		return nil
	}}, "max", "greatest number of nodes of a pool, as `pool=number` (repeatable)")
	flags.StringArrayVar(&f.others, "candidates", nil, "node `file` with pools that may be added; they have no nodes yet (repeatable)")
	flags.BoolVar(&f.atMin, "at-min", false, "count autoscaled workloads with their least number of pods instead of the greatest")
	flags.BoolVar(&f.check, "check", false, "fail if the declared sizes are not enough, and print the difference")
	flags.BoolVar(&f.write, "write", false, "write the sizes that were found to count and zones of the NodeTopology")
	flags.StringArrayVar(&f.grow, "workload", nil, "find how many pods this workload can have on the declared nodes, as `kind/name` (repeatable)")
	flags.BoolVar(&f.all, "workloads", false, "find how many pods each workload can have on the declared nodes")
	return cmd
}

// rooms sets the workloads whose number of pods is asked for.
func (f *sizeFlags) rooms(o *sizing.Options) error {
	if !f.all && len(f.grow) == 0 {
		return nil
	}
	for _, other := range []struct {
		name string
		set  bool
	}{{"--check", f.check}, {"--write", f.write}, {"--max", len(f.max) > 0}, {"--candidates", len(f.others) > 0}} {
		if other.set {
			return fmt.Errorf("%s is about sizes of pools: leave it out, or leave out --workload and --workloads", other.name)
		}
	}
	var spots []lint.Spot
	for _, text := range f.grow {
		kind, name, ok := strings.Cut(text, "/")
		if !ok || kind == "" || name == "" {
			return fmt.Errorf("--workload %s: expected a kind and a name, such as deployment/web", text)
		}
		spots = append(spots, lint.Spot{Kind: kind, Name: name})
	}
	o.Rooms = func(object *source.Object) bool {
		return f.all || slices.ContainsFunc(spots, func(s lint.Spot) bool { return s.Names(object) })
	}
	return nil
}

// maxPoolSize limits --max.
const maxPoolSize = 10_000

// asked returns what the flags ask about.
func (f *sizeFlags) asked() (*sizing.Options, error) {
	asks := f.asks
	if len(asks) == 0 {
		asks = []string{"fits", "rolls", "drains"}
	}
	o := &sizing.Options{Rolls: slices.Contains(asks, "rolls"), Drains: slices.Contains(asks, "drains"), Survives: []string{}, AtMin: f.atMin, Max: f.max, Candidates: f.others}
	o.Survives = append(o.Survives, f.survive...)
	if len(o.Survives) == 0 && slices.Contains(asks, "survives") {
		key, err := config.TopologyKey("node")
		if err != nil {
			return nil, err
		}
		o.Survives = append(o.Survives, key)
	}
	slices.Sort(o.Survives)
	o.Survives = slices.Compact(o.Survives)
	return o, nil
}

func runSize(cmd *cobra.Command, args []string, f *sizeFlags) error {
	if err := f.outputs.check(); err != nil {
		return err
	}
	if f.check && f.write {
		return errors.New("--check and --write exclude each other")
	}
	asked, err := f.asked()
	if err != nil {
		return err
	}
	if err := f.rooms(asked); err != nil {
		return err
	}
	options, err := f.options(cmd, args, len(args) == 0)
	if err != nil {
		return err
	}
	var stop func()
	options.Progress, stop = progress(cmd.ErrOrStderr())
	defer stop()
	doc, files, err := lint.Size(cmd.Context(), options, asked, f.write)
	stop()
	if err == nil && len(f.grow) > 0 && len(doc.Sizes) == 0 {
		err = fmt.Errorf("%s: no workload has this name among the manifests that were read", strings.Join(f.grow, ", "))
	}
	if err != nil {
		return err
	}
	err = f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, _ bool) error {
		return report.WriteSizes(w, format, doc)
	})
	f.outputs.tell(cmd.ErrOrStderr(), doc.Failures)
	if err != nil {
		return statusError{max(exitUsage, failed(doc.Failures)), err}
	}
	if failed(doc.Failures) == exitClean && len(files) > 0 { // sizes for a part of the input would be too small
		for _, file := range files {
			if err := worktree.ReplaceFile(file.Path, file.Before, file.After); err != nil {
				return fmt.Errorf("--write: %w", worktree.Named(err, file.Name))
			}
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "schedlint: sizes written to %s\n", report.Count(len(files), "file"))
	}
	// Failures take precedence.
	if code := failed(doc.Failures); code != exitClean {
		return statusError{code: code}
	}
	for i := range doc.Sizes {
		one := &doc.Sizes[i]
		if one.Verdict == "" { // numbers of pods are no failure
			continue
		}
		found := one.Verdict == diag.SizeMinimal || one.Verdict == diag.SizeFound
		if f.check && one.Declared == string(diag.Never) {
			return statusError{exitFindings, errors.New("the declared sizes are not enough (--check)")}
		}
		if !f.check && !found {
			return statusError{code: exitFindings}
		}
	}
	return nil
}
