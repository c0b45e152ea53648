package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// newRoot returns the root command with all subcommands.
func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var oneLine bool
	root := &cobra.Command{
		Use:           "schedlint",
		Short:         "Check Kubernetes scheduling constraints against your nodes, without a cluster",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if oneLine {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "schedlint", version)
				return err
			}
			return cmd.Help()
		},
	}
	// cobra's own version flag uses a template. A template can call any method by name, so the
	// linker would have to keep every method of every type.
	root.Flags().BoolVarP(&oneLine, "version", "v", false, "print the version")
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.AddCommand(newLint(), newExplain(), newPlace(), newSize(), newPlan(), newInputs(), newNodes(), newKinds(), newRender(), newVendor(), newRules(), newFacts(), newPolicy(), newVersion())
	addCompletion(root)
	return root
}

// noCommand returns an error about an unknown command. It suggests a command with a similar name,
// or lint if the word is a path.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := lists.Of(cmd.Commands(), (*cobra.Command).Name)
	near := diag.Nearest(args[0], names)
	if _, err := os.Stat(args[0]); near == "" && (err == nil || args[0] == "-") {
		near = "lint " + args[0]
	}
	if near != "" {
		near = cmd.Name() + " " + near
	}
	return fmt.Errorf("unknown command %q%s", args[0], diag.Question(near))
}
