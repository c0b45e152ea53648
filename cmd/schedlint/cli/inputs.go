package cli

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint/config"
)

func newInputs() *cobra.Command {
	var write, verbose bool
	cmd := &cobra.Command{
		Use:   "inputs [PATH...]",
		Short: "List kustomizations, charts, GitOps pointers and node files",
		Long: `Inputs lists the kustomizations under the paths that no other kustomization
refers to, whether each renders without network access and, if not, why. It
lists Helm charts likewise, with their default values and with each values file
of an environment: values-*.yaml, values/*.yaml, env/*.yaml or ci/*-values.yaml
in the chart, or next to it if it is the only one there. It lists Flux and
Argo CD objects with the directories and charts that they deploy, or why not,
and node files, also those that count only if --topology names them. The
default path is the working directory. What is not rendered for one reason, or
renders without workloads, is one entry with a count; --verbose lists each.

It then prints a renders: block for ` + config.Name + ` that names these
kustomizations, charts and pointers, and an ignore: list with directories of
test data, such as testdata and golden. With --write it adds both to that file
and keeps the rest of the file as it is; an existing renders: or ignore: key is
never changed.

Exit status:
  0  success
  2  usage error, nothing to render at a path, or the file cannot be written`,
		Example: `  schedlint inputs
  schedlint inputs --verbose
  schedlint inputs --write
  schedlint inputs clusters/prod`,
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := config.Choose("")
			if err != nil {
				return err
			}
			found, err := inputs.Find(cmd.Context(), conf, args, inputs.Render)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			found.Print(out, verbose)
			block := found.Block()
			if !write {
				block.Print(out, verbose)
			}
			if err := out.Flush(); err != nil || !write {
				return err
			}
			return block.Write(cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list each input in a row of its own, and all of the block")
	cmd.Flags().BoolVar(&write, "write", false, "add the renders: block to "+config.Name+", creating the file if needed")
	return cmd
}
