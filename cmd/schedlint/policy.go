package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/rego"
)

// policyDir is the folder of a team's own rules where nothing else is named.
const policyDir = "policy"

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, check and test your own rules",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyNew(), newPolicyCheck(), newPolicyRun(), newPolicyDocs(), newPolicyBundle(), newPolicyVendor())
	return cmd
}

// policyDirs are the folders that a command is about: those that are named, or those of
// the configuration, or policy.
func policyDirs(args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	conf, err := loadConfig("")
	if err != nil {
		return nil, err
	}
	if dirs := configuredPolicies(conf); len(dirs) > 0 {
		return dirs, nil
	}
	return []string{policyDir}, nil
}

// configuredPolicies are the folders of rules that a configuration names.
func configuredPolicies(conf *config.Config) []string { return ruleSource{}.with(conf) }

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [DIR...]",
		Short: "Check that rules load, are documented and have tests",
		Long: `Check loads the rules below DIR (default: the folders of the configuration, or
policy) and reports everything that is wrong with them at once: syntax, types,
fields and values that do not exist, documentation, and missing tests. Each rule
<id>/rule.rego needs unit tests, <id>/rule_test.rego, and the fixtures
<id>/fixtures/bad, good and unknown; a vendored rule may lack them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := policyDirs(args)
			if err != nil {
				return err
			}
			own, err := ownRules(dirs)
			if err != nil {
				return err
			}
			var errs []error
			for _, r := range own {
				if !r.vendored {
					errs = append(errs, r.untested()...)
				}
			}
			if err := errors.Join(errs...); err != nil {
				return statusError{exitFindings, err}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s checked\n", plural(len(own), "rule"))
			return err
		},
	}
}

func newPolicyDocs() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [DIR...]",
		Short: "Print the catalogue of your own rules as Markdown",
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := policyDirs(args)
			if err != nil {
				return err
			}
			engine, err := rego.Load(rego.Options{Dirs: dirs})
			if err != nil {
				return err
			}
			own, err := ownRules(dirs)
			if err != nil {
				return err
			}
			example := func(id string) string {
				i := slices.IndexFunc(own, func(r ownRule) bool { return r.ID == id })
				if i < 0 {
					return ""
				}
				return own[i].example()
			}
			_, err = cmd.OutOrStdout().Write(rego.Catalogue(engine.All(), example))
			return err
		},
	}
}
