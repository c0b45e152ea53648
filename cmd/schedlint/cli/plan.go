package cli

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

type planFlags struct {
	inputFlags
	atMin   bool
	failOn  string
	outputs outputs
}

// planFails lists the verdicts that --fail-on accepts, most severe first, and the word none.
func planFails() []string {
	return []string{string(diag.Never), string(diag.Unknown), string(diag.None)}
}

func newPlan() *cobra.Command {
	f := planFlags{failOn: string(diag.Never)}
	cmd := &cobra.Command{
		Use:   "plan POOL [PATH...]",
		Short: "Decide whether all nodes of a pool can be replaced",
		Long: `Plan decides whether a platform can replace all nodes of a pool, a few at a time
and in any order, while every PodDisruptionBudget is obeyed, and whether all
pods run again at the end. The node file says how the platform works:

  upgrade: {surge: 1, unavailable: 0, zone: same, cordon: drained}

The answer is yes if every upgrade completes, no if none does, and not known
otherwise, with the workload, the budget and the node. "No" means that the
upgrade stops, or that the platform breaks a budget if it forces the drain. If
the answer is not yes, small changes that make it yes are printed as help.

Exit status (the highest applies):
  0  all nodes can be replaced, or the answer does not fail the run
  1  the upgrade stops (see --fail-on)
  2  usage error, missing input or topology, or an incomplete run
  3  internal error`,
		Example: `  schedlint plan general --topology nodes.yaml manifests
  schedlint plan general -t nodes.yaml --fail-on unknown .`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(cmd, args, &f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.outputs.add(flags, report.UpgradeFormats())
	flags.BoolVar(&f.atMin, "at-min", false, "count autoscaled workloads with their least number of pods instead of the greatest")
	flags.Var(choice(&f.failOn, planFails()), "fail-on", "least severe `verdict` that fails the run: never, unknown, none (default never)")
	return cmd
}

func runPlan(cmd *cobra.Command, args []string, f *planFlags) error {
	if err := f.outputs.check(); err != nil {
		return err
	}
	if len(args) == 0 {
		return errors.New("name the pool whose nodes are replaced: schedlint plan POOL [PATH...]")
	}
	options, err := f.options(cmd, args[1:], len(args) == 1)
	if err != nil {
		return err
	}
	var stop func()
	options.Progress, stop = progress(cmd.ErrOrStderr())
	defer stop()
	doc, err := lint.Plan(cmd.Context(), options, args[0], f.atMin)
	stop()
	if err != nil {
		return err
	}
	err = f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, _ bool) error {
		return report.WriteUpgrades(w, format, doc)
	})
	f.outputs.tell(cmd.ErrOrStderr(), doc.Failures)
	if err != nil {
		return statusError{max(exitUsage, failed(doc.Failures)), err}
	}
	// Failures take precedence.
	if code := failed(doc.Failures); code != exitClean {
		return statusError{code: code}
	}
	fails := planFails()[:slices.Index(planFails(), f.failOn)+1]
	if f.failOn == string(diag.None) {
		fails = nil
	}
	for i := range doc.Upgrades {
		if slices.Contains(fails, doc.Upgrades[i].Verdict) {
			return statusError{code: exitFindings}
		}
	}
	return nil
}
