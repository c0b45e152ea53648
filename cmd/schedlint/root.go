package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/diag"
)

// newRoot is the command tree; every command is one file.
func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "schedlint",
		Short:         "Lint Kubernetes scheduling constraints against declared nodes",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("schedlint {{.Version}}\n")
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newLint(), newPlace(), newRules(), newVersion())
	addCompletion(root)
	return root
}

// noCommand says what was probably meant by a first word that is no command:
// one that is spelt almost like it, or lint, if the word is something to lint.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	near := diag.Nearest(args[0], names)
	if _, err := os.Stat(args[0]); near == "" && (err == nil || args[0] == "-") {
		near = "lint " + args[0]
	}
	return fmt.Errorf("unknown command %q%s", args[0], question(near, cmd.Name()+" "))
}
