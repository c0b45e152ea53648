package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/fixtures"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
)

func newRules() *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules, or print one with its description and its example",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			engine, err := loadRules(dirs, &config.Config{})
			if err != nil {
				return err
			}
			if len(args) == 0 {
				listRules(cmd.OutOrStdout(), engine)
				return nil
			}
			return printRule(cmd.OutOrStdout(), engine, args[0])
		},
	}
	cmd.Flags().StringArrayVar(&dirs, "rules", nil, "`directory` with rules of your own (repeatable)")
	return cmd
}

func listRules(w io.Writer, engine *rego.Engine) {
	width := 0
	for _, r := range engine.Rules() {
		width = max(width, len(r.ID))
	}
	for _, r := range engine.Rules() {
		fmt.Fprintf(w, "%-*s  %-7s  %-11s  %s\n", width, r.ID, r.Level, r.Category, r.Title)
	}
}

func printRule(w io.Writer, engine *rego.Engine, id string) error {
	r, ok := engine.Rule(id)
	if !ok {
		if near := diag.Nearest(id, engine.IDs()); near != "" {
			return fmt.Errorf("unknown rule %q; did you mean %s?", id, near)
		}
		return fmt.Errorf("unknown rule %q: schedlint rules lists them all", id)
	}
	fmt.Fprintf(w, "%s (%s, %s, since %s)\n\n%s.\n\n%s\n", r.ID, r.Level, r.Category, r.Since, r.Title, r.Description)
	for _, address := range r.Related {
		fmt.Fprintf(w, "\nSee %s", address)
	}
	if len(r.Related) > 0 {
		fmt.Fprintln(w)
	}
	if example := fixtures.Example(id); example != "" {
		fmt.Fprintf(w, "\nExample:\n\n    %s\n", strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n    "))
	}
	return nil
}
