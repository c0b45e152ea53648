package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/listing"
	"github.com/schedlint/schedlint/lint/report"
)

type factsFlags struct {
	inputFlags
	format, list, at, cluster, context, rule, doc string
	schema, documented                            bool
}

func newFacts() *cobra.Command {
	f := factsFlags{format: "table"}
	cmd := &cobra.Command{
		Use:   "facts [PATH...]",
		Short: "Show what rules see: facts about workloads, nodes and objects",
		Long: `Facts prints what rules see as input, with the position of each row. Without
--list it counts the rows of each list. The facts include healthy rows, and
every answer that rules can ask for, such as the loss of a node or a zone.

With --format json the output is one document for each context: the input of
conftest or opa eval. A tree with alternatives, such as one directory per
environment, or several clusters or renders, has several contexts; --cluster
and --context choose one. --rule adds the parameters of a rule, as the rule sees
them.`,
		Example: `  schedlint facts -t nodes.yaml manifests
  schedlint facts -t nodes.yaml --list workloads manifests
  schedlint facts -t nodes.yaml --at manifests/web.yaml:12 manifests
  schedlint facts --doc workloads.terms
  schedlint facts -t nodes.yaml --format json manifests | conftest test -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.documented = cmd.Flags().Changed("doc")
			return runFacts(cmd, args, &f)
		},
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	flags.Var(keys(&f.survive), "survive", "also ask about the loss of any one domain of this topology `key` (repeatable; node and zone are always asked)")
	flags.Var(choice(&f.list, listing.Lists()), "list", "show the rows of this `list`")
	flags.StringVar(&f.at, "at", "", "show the rows at this `file:line`")
	flags.StringVar(&f.cluster, "cluster", "", "show this `cluster` of the configuration only")
	flags.StringVar(&f.context, "context", "", "show this `context` only: a branch of the tree, or a render")
	flags.Var(choice(&f.format, listing.Formats()), "format", "output `format`: "+strings.Join(listing.Formats(), ", ")+" (default table)")
	flags.StringVar(&f.rule, "rule", "", "add the parameters of this `rule` as params (json, yaml)")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of the facts")
	flags.StringVar(&f.doc, "doc", "", "describe a `field` of the facts, such as workloads.terms")
	return cmd
}

func runFacts(cmd *cobra.Command, args []string, f *factsFlags) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	switch {
	case f.schema:
		return errors.Join(listing.Schema(out), out.Flush())
	case f.documented:
		return errors.Join(listing.Doc(out, f.doc), out.Flush())
	}
	options, err := f.options(cmd, args, len(args) == 0)
	if err != nil {
		return err
	}
	expectFacts(nil, options.Config)
	engine, err := policy.Load(policy.Source{}, options.Config)
	if err != nil {
		return err
	}
	if belowPolicies(options.Config, args) {
		options.Config = options.Config.WithFixtures()
	}
	options.Policy = engine
	o := listing.Options{List: f.list}
	if o.File, o.Line, err = f.line(); err != nil {
		return err
	}
	d, err := lint.Facts(cmd.Context(), options)
	if err != nil {
		return err
	}
	var params []byte
	if f.rule != "" {
		if _, ok := engine.Rule(f.rule); !ok {
			return policy.Unknown(engine, f.rule)
		}
		if params, err = engine.Params(f.rule); err == nil && params == nil {
			params = []byte("{}")
		}
	}
	var contexts []listing.Context
	if err == nil {
		contexts, err = f.chosen(d, params)
	}
	if err != nil {
		return err
	}
	printFailures(cmd.ErrOrStderr(), d.Failures)
	to := io.Writer(out)
	if f.format == "json" || f.format == "yaml" {
		to = report.Harmless(out)
	}
	if err := errors.Join(listing.Write(to, f.format, contexts, o), out.Flush()); err != nil {
		return err
	}
	return incomplete(d.Failures)
}

// belowPolicies reports whether all paths are in folders that hold a team's own rules. Manifests in
// these folders are fixtures and are never deployed.
func belowPolicies(conf *config.Config, paths []string) bool {
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil || !slices.ContainsFunc(conf.PolicyDirs(), func(dir string) bool {
			return strings.HasPrefix(path, dir+string(filepath.Separator))
		}) {
			return false
		}
	}
	return len(paths) > 0
}

// line parses the value of --at.
func (f *factsFlags) line() (file string, line int, err error) {
	if f.at == "" {
		return "", 0, nil
	}
	file, line, ok := cutNumber(f.at)
	if !ok || line < 1 {
		return "", 0, fmt.Errorf("--at %s: expected file:line, such as manifests/web.yaml:12", f.at)
	}
	return filepath.ToSlash(filepath.Clean(file)), line, nil
}

// chosen returns the contexts selected by the flags. It shows file names in the same way as other
// output.
func (f *factsFlags) chosen(d *lint.Described, params []byte) ([]listing.Context, error) {
	var all []listing.Context
	var names []string
	for _, c := range d.Contexts {
		about := c.Facts.Cluster
		names = append(names, strings.Trim(about.Name+" "+about.Context, " "))
		if f.cluster != "" && about.Name != f.cluster || f.context != "" && about.Context != f.context {
			continue
		}
		all = append(all, listing.Context{Facts: c.Facts, Params: params, Place: func(id int) diag.Span {
			at := c.Place(id)
			if !at.IsZero() {
				at.File = d.Display(at.File)
			}
			return at
		}})
	}
	if len(all) == 0 && (f.cluster != "" || f.context != "") {
		slices.Sort(names)
		return nil, fmt.Errorf("no context with --cluster %q and --context %q; there are: %s", f.cluster, f.context, strings.Join(names, ", "))
	}
	return all, nil
}
