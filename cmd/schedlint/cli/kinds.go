package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/source"
)

func newKinds() *cobra.Command {
	var from []string
	var named string
	cmd := &cobra.Command{
		Use:   "kinds [KIND...]",
		Short: "List custom resources whose pods are known, or propose rows",
		Long: `Kinds lists the kinds of custom resources from which operators make pods, with
the operator and the version whose source each row was read from. With KIND, it
prints the rows in full, as kinds: of ` + config.Name + ` accepts them. Rows of
the configuration replace those of schedlint.

--from reads CustomResourceDefinitions and proposes rows: it looks for fields
with the shapes of pod templates, affinity, tolerations, node selectors and
topology spread constraints, and for the number of pods beside them. A schema
does not say what the operator does with its fields, so compare a proposal with
the operator before you add it.

Exit status:
  0  success
  2  usage error, no such kind, or a file cannot be read or has no
     CustomResourceDefinition`,
		Example: `  schedlint kinds
  schedlint kinds Prometheus
  schedlint kinds --from crds/shop.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			if len(from) > 0 {
				if len(args) > 0 {
					return fmt.Errorf("--from proposes a row for each definition in the file: leave out %s", args[0])
				}
				if err := propose(out, from, cmd.InOrStdin()); err != nil {
					return err
				}
				return out.Flush()
			}
			conf, err := config.Choose(named)
			if err != nil {
				return err
			}
			if err := listKinds(out, conf, args); err != nil {
				return err
			}
			return out.Flush()
		},
	}
	addConfig(cmd.Flags(), &named)
	cmd.Flags().StringArrayVar(&from, "from", nil, "propose rows for the CustomResourceDefinitions in this `path` (repeatable)")
	return cmd
}

// listKinds prints all rows in a table, or those of some kinds in full.
func listKinds(w io.Writer, conf *config.Config, wanted []string) error {
	rows := slices.SortedFunc(maps.Values(kinds.Builtin().With(conf.Kinds)), func(a, b *kinds.Row) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group)) })
	if len(wanted) == 0 {
		fmt.Fprintln(w, "Custom resources whose pods are known:")
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, r := range rows {
			from := r.Operator() + " " + r.Version
			if slices.ContainsFunc(conf.Kinds, func(c kinds.Row) bool { return c.Kind == r.Kind && c.Group == r.Group }) {
				from = config.Name
			}
			if from = strings.TrimSpace(from); len(r.Pods) == 0 {
				from += ": no pods"
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\n", report.Visible(r.Kind), report.Visible(r.Group), report.Visible(from))
		}
		return table.Flush()
	}
	fmt.Fprintln(w, "kinds:")
	for _, kind := range wanted {
		found := slices.DeleteFunc(slices.Clone(rows), func(r *kinds.Row) bool { return r.Kind != kind })
		if len(found) == 0 {
			all := lists.Of(rows, func(r *kinds.Row) string { return r.Kind })
			return fmt.Errorf("there is no row for the kind %s%s", kind, diag.Question(diag.Nearest(kind, all)))
		}
		for _, r := range found {
			fmt.Fprint(w, r.Text())
		}
	}
	return nil
}

// propose prints rows for the CustomResourceDefinitions in files.
func propose(w io.Writer, paths []string, stdin io.Reader) error {
	objects, err := definitionsIn(paths, stdin)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "kinds:")
	for _, o := range objects {
		p, ok := kinds.Propose(o)
		fmt.Fprintf(w, "# %s of %s, from %s:%d\n", report.Visible(p.Row.Kind), report.Visible(p.Row.Group), report.Visible(o.File.Name), o.NameSpan().Line)
		for _, why := range p.Open {
			fmt.Fprintf(w, "# %s\n", report.Visible(why))
		}
		switch {
		case !ok:
			fmt.Fprintln(w, "# no property has the shape of a pod template or of placement fields")
		case len(p.Row.Pods) > 0:
			fmt.Fprint(w, p.Row.Text())
		}
	}
	return nil
}

// definitionsIn returns the CustomResourceDefinitions in files and folders.
func definitionsIn(paths []string, stdin io.Reader) (all []*source.Object, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	set, err := source.Load(source.Options{Dir: dir, Root: inputs.Repository(dir), Stdin: stdin}, paths)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, p := range set.Problems {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", p.Span.File, p.Span.Line, p.Kind, p.Detail))
	}
	for _, f := range set.Files {
		for _, root := range f.Roots() {
			all = append(all, slices.DeleteFunc(f.ObjectsOf(root), func(o *source.Object) bool { return !kinds.Defines(o) })...)
		}
	}
	if len(all)+len(errs) == 0 {
		return nil, errors.New("expected a CustomResourceDefinition, found none in " + strings.Join(paths, ", "))
	}
	return all, errors.Join(errs...)
}
