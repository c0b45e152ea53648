package main

import (
	"fmt"
	"io"
	"os"
	"slices"
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
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("schedlint {{.Version}}\n")
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newLint(), newPlace(), newRules())
	return root
}

// flagError adds the flag that was probably meant, of this command or of one
// below it.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	name, _, _ = strings.Cut(name, "=")
	err = fmt.Errorf("unknown flag --%s", name)
	if near := diag.Nearest(name, flagNames(cmd)); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	for _, sub := range cmd.Commands() {
		if slices.Contains(flagNames(sub), name) {
			return fmt.Errorf("%w; did you mean %s --%s?", err, sub.CommandPath(), name)
		}
	}
	return err
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
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

// oneOf refuses a word that is none of the words of a flag.
func oneOf(word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("expected one of %s%s", strings.Join(words, ", "), question(diag.Nearest(word, words), ""))
}

// question asks back whether something was meant, if there is anything near.
func question(near, before string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + before + near + "?"
}
