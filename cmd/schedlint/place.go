package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// strictness are the words of --fail-on, each failing on all before it;
// none is the word beside them.
var strictness = []certificate.Verdict{certificate.Never, certificate.OrderDependent, certificate.Undetermined}

// placeFlags are the flags of the place command.
type placeFlags struct {
	topology, survive []string
	config, failOn    string
	outputs           outputs
	steps             float64
	failOnUnknown     string
	render            renderFlags
	failOnUnrendered  bool
}

func newPlace() *cobra.Command {
	f := placeFlags{failOn: string(certificate.Never)}
	cmd := &cobra.Command{
		Use:   "place [PATH...]",
		Short: "Decide whether workloads can be placed together, and keep running",
		Long: `Place decides whether all declared pods can be placed on the declared nodes,
over every order of pods and every choice among the nodes that pass the filters
of kube-scheduler: always, in some runs (order-dependent), never, or
undetermined if the budget is over before that is known. It shows a run that
places them, a run that gets stuck, or the smallest contradiction, and for
every workload what becomes of it when something changes.

Kustomizations below the paths are rendered, and each render is a context with a
decision of its own. Where directories or files declare one object differently,
as those of several environments do, each of them is a context as well.

Exit status: 1 for never or if the API server refuses something, 0 otherwise, 2
wrong usage, no topology, missing input, or an incomplete run, as when a file
cannot be read (the decision is then about the rest), 3 internal failure. The
highest one counts.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPlace(cmd, args, &f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.topology, "topology", "t", nil, "`file` that declares the nodes (repeatable)")
	addTracked(flags)
	flags.Var(fileFlag{&f.config}, "config", "configuration `file` (default: "+config.Name+" in this directory or above)")
	flags.Var(keyFlag{&f.survive}, "survive", "topology `key` whose domains are lost one at a time: node, zone, region or another (repeatable; default node and zone)")
	formatsVar(flags, &f.outputs, report.PlaceFormats())
	flags.Var(choiceFlag{&f.failOn, failVerdicts()}, "fail-on", "mildest `verdict` that fails the run: "+strings.Join(failVerdicts(), ", ")+" (default never)")
	addSteps(flags, &f.steps)
	addFailUnknown(flags, &f.failOnUnknown)
	f.render.add(flags)
	addUnrendered(flags, &f.failOnUnrendered)
	return cmd
}

func runPlace(cmd *cobra.Command, args []string, f *placeFlags) error {
	if err := f.outputs.check(); err != nil {
		return err
	}
	options, err := input(cmd, args, f.topology, f.config)
	if err != nil {
		return err
	}
	if err := f.render.apply(&options, len(args) == 0); err != nil {
		return err
	}
	options.Survive, options.Steps = f.survive, f.steps
	doc, err := lint.Place(cmd.Context(), options)
	if err != nil {
		return err
	}
	err = f.outputs.write(cmd.OutOrStdout(), func(w io.Writer, format string, _ bool) error {
		return report.WritePlacement(w, format, doc)
	})
	f.outputs.tell(cmd.ErrOrStderr(), doc.Failures)
	if err != nil {
		return statusError{max(exitUsage, failed(doc.Failures)), err}
	}
	if err := placeOutcome(doc, f.failOn, f.failOnUnknown); err != nil || !f.failOnUnrendered || doc.Unrendered == 0 {
		return err
	}
	return statusError{exitFindings, unrendered(doc.Unrendered)}
}

// placeOutcome is the exit status of decisions: that of the worst, and what was not
// done outranks them all.
func placeOutcome(doc *diag.Placements, failOn, unknown string) error {
	if code := failed(doc.Failures); code != exitClean {
		return statusError{code: code}
	}
	limit := slices.Index(strictness, certificate.Verdict(failOn))
	for _, d := range doc.Decisions {
		if at := slices.Index(strictness, certificate.Verdict(d.Verdict)); limit >= 0 && (at >= 0 && at <= limit || len(d.Invalid) > 0) || diag.Unsettled(d.Unknown, unknown) {
			return statusError{code: exitFindings}
		}
	}
	return nil
}

// failVerdicts are the words that --fail-on takes.
func failVerdicts() []string {
	var words []string
	for _, v := range strictness {
		words = append(words, string(v))
	}
	return append(words, "none")
}
