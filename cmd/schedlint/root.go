package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("schedlint {{.Version}}\n")
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newLint(), newRules())
	return root
}

// flagError adds the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := diag.Nearest(name, names); near != "" {
		return &usageError{"unknown flag --" + name + "; did you mean --" + near + "?"}
	}
	return err
}

// usageError is an error about how the command was called.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// harmless makes names from the outside safe to print: control characters
// would reach the terminal of whoever reads the log.
func harmless(s string) string {
	quoted := strconv.Quote(s)
	text := strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	if strings.HasPrefix(text, "::") || strings.HasPrefix(text, "##[") {
		return " " + text
	}
	return text
}
