package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
)

// strictness lists the verdicts that --fail-on accepts, most severe first. A run fails on the given
// verdict and on more severe ones. The flag also accepts the word none.
var strictness = []diag.Outcome{diag.Never, diag.Sometimes, diag.Unknown}

type placeFlags struct {
	inputFlags
	failFlags
	failOn       string
	all, verbose bool
	outputs      outputs
}

func newPlace() *cobra.Command {
	f := placeFlags{failOn: string(diag.Never)}
	cmd := &cobra.Command{
		Use:   "place [PATH...]",
		Short: "Decide whether all pods can be scheduled and stay running",
		Long: `Place decides whether all pods can be scheduled on the declared nodes, over any
scheduling order and any node that passes the kube-scheduler filters. The
verdict is always, sometimes, never, unknown if the input or the step budget
does not allow an answer, or none if there are no pods. Place prints a placement
of all pods, a run that gets stuck, or the smallest set of conflicting
constraints. For each workload it also says what happens during rollouts,
drains, node and zone loss, live migration and autoscaling.

Where the verdict is sometimes or unknown, simulated runs of kube-scheduler with
the scores of its default profile show how often pods are left out. They change
no verdict.

Each rendered kustomization gets its own verdict. So does each alternative when
directories or files declare the same object differently, such as one directory
per environment.

Exit status (the highest applies):
  0  the verdict does not fail the run
  1  the verdict is never (see --fail-on), the API server rejects an object, or
     another --fail-on-* condition is met
  2  usage error, missing input or topology, or an incomplete run: a file could
     not be read, and the verdict covers the rest; or no workload was found
     because charts, GitOps pointers or kustomizations are not rendered
  3  internal error`,
		Example: `  schedlint place --topology nodes.yaml manifests
  schedlint place -t nodes.yaml --survive zone --format json .`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPlace(cmd, args, &f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.failFlags.add(flags)
	f.outputs.add(flags, report.PlaceFormats())
	flags.Var(keys(&f.survive), "survive", "check the loss of any one domain of this topology `key`: node, zone, region or a label key (repeatable; default node and zone)")
	flags.Var(choice(&f.failOn, failVerdicts()), "fail-on", "least severe `verdict` that fails the run: "+strings.Join(failVerdicts(), ", ")+" (default never)")
	flags.BoolVar(&f.all, "all", false, "print every workload, reason and node by itself (text, markdown)")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print contexts without pods as well")
	return cmd
}

func runPlace(cmd *cobra.Command, args []string, f *placeFlags) error {
	if err := f.outputs.check(); err != nil {
		return err
	}
	options, err := f.options(cmd, args, len(args) == 0)
	if err != nil {
		return err
	}
	options.Placements = f.unknown == diag.FailPlacement
	options.Pictures = slices.ContainsFunc(f.outputs, func(o output) bool { return report.Pictures(o.format) })
	var stop func()
	options.Progress, stop = progress(cmd.ErrOrStderr())
	defer stop()
	doc, err := lint.Place(cmd.Context(), options)
	stop()
	if err != nil {
		return err
	}
	err = f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, _ bool) error {
		return report.WritePlacement(w, format, doc, report.Options{All: f.all, Verbose: f.verbose})
	})
	f.outputs.tell(cmd.ErrOrStderr(), doc.Failures)
	if err != nil {
		return statusError{max(exitUsage, failed(doc.Failures)), err}
	}
	if err := placeOutcome(doc, f.failOn, f.unknown); err != nil {
		return err
	}
	return f.onUnrendered(doc.Unrendered)
}

// placeOutcome returns the exit status for the worst placement. Failures take precedence over all
// verdicts.
func placeOutcome(doc *diag.Placements, failOn, unknown string) error {
	if code := failed(doc.Failures); code != exitClean {
		return statusError{code: code}
	}
	limit := slices.Index(strictness, diag.Outcome(failOn))
	for _, d := range doc.Decisions {
		if len(d.IfShared) > 0 {
			continue
		}
		verdict := d.Verdict
		if d.Verdict == string(diag.Sometimes) && d.DaemonSetsFirst != "" {
			verdict = d.DaemonSetsFirst
		}
		if d.OnceGrown {
			verdict = string(diag.Always)
		}
		if at := slices.Index(strictness, diag.Outcome(verdict)); limit >= 0 && (at >= 0 && at <= limit || len(d.Invalid) > 0) || diag.Unsettled(d.Unknown, unknown) {
			return statusError{code: exitFindings}
		}
	}
	return nil
}

// failVerdicts returns the words that --fail-on accepts.
func failVerdicts() []string {
	words := lists.Of(strictness, func(v diag.Outcome) string { return string(v) })
	return append(words, "none")
}
