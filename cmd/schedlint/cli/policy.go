package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/vendored"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, check and test your own rules",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyNew(), newPolicyCheck(), newPolicyRun(), newPolicyDocs(), newPolicyBundle(), newPolicyVendor(), newPolicyImport())
	return cmd
}

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [DIR...]",
		Short: "Check that rules load, are documented and have tests",
		Long: `Check loads the rules below DIR (default: the folders of the configuration, or
policy) and reports everything that is wrong with them at once: syntax, types,
fields and values that do not exist, documentation, and missing tests. Each rule
<id>/rule.rego needs unit tests, <id>/rule_test.rego, and the fixtures
<id>/fixtures/bad, good and unknown; a vendored rule may lack them. A unit test
must be able to fail, and a fixture that is good must expect no finding. A rule
need not be given its parameters.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := policy.Dirs(args, false)
			if err != nil {
				return err
			}
			n, missing, err := policy.Check(dirs)
			if err != nil {
				return err
			}
			if missing != nil {
				return statusError{exitFindings, missing}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s checked\n", report.Count(n, "rule"))
			return err
		},
	}
}

func newPolicyDocs() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [DIR...]",
		Short: "Print the catalogue of your own rules as Markdown",
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := policy.Dirs(args, false)
			if err != nil {
				return err
			}
			text, err := policy.Docs(dirs)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

func newPolicyNew() *cobra.Command {
	folder := policy.Dir
	cmd := &cobra.Command{
		Use:   "new ID",
		Short: "Write a rule with unit tests and fixtures to start from",
		Long: `New writes DIR/ID/rule.rego, rule_test.rego and fixtures that pass policy test.
Change the fixtures to what you want to be found, run policy test to see them
fail, and change the rule. For opa and Regal in editors, New also writes the
schema of the facts, the libraries and a configuration of Regal, and, where no
configuration is found, .schedlint.yaml with the folder. No file is overwritten
but the schema and the libraries, if they are of another version of schedlint.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return policy.New(cmd.OutOrStdout(), folder, args[0]) },
	}
	cmd.Flags().Var(dir(&folder), "dir", "`directory` of your own rules (default policy)")
	return cmd
}

func newPolicyRun() *cobra.Command {
	var p policy.Tests
	cmd := &cobra.Command{
		Use:   "test [DIR...]",
		Short: "Run the unit tests and fixtures of your own rules",
		Long: `Test runs the unit tests of the rules below DIR (default: the folders of the
configuration, or policy) and holds their findings against their fixtures.

Unit tests are rules test_... in <id>/rule_test.rego. data.schedlint.facts makes
whole rows: facts.workload({"pods_min": 3}). print writes to standard error.

A fixture is a folder <id>/fixtures/NAME with manifests; NAME starts with bad,
good or unknown. A comment # want "PATTERN" stands on each line of a finding and
matches "rule: message"; any other finding fails the test. Nodes come from
nodes.yaml in the folder or beside it, parameters from a comment
# params: {"key": value}. --update writes the comments of bad fixtures and lists
the files, except for vendored rules.

--mutants leaves out each condition of each rule and library in turn, if all
tests pass: a unit test or a fixture must fail. METADATA lists conditions that
no test can notice under custom.untested, each with its reason.

Exit status: 0 if all tests pass, 1 if one fails or a condition is left out and
none does, 2 if a rule or test does not load.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if p.Mutants && p.Run != "" {
				return errors.New("--mutants runs all tests; leave out --run") // if --run skipped a condition's test, the condition would look untested
			}
			if p.Dirs, err = policy.Dirs(args, false); err != nil {
				return err
			}
			passed, err := p.All(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err == nil && !passed {
				return statusError{code: exitFindings}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Run, "run", "", "run only tests and fixtures whose name matches this `pattern`, such as ID.test_x or ID/bad")
	flags.BoolVar(&p.Update, "update", false, "write the # want comments of bad fixtures")
	flags.BoolVar(&p.Coverage, "coverage", false, "list the lines of rules that no unit test evaluates")
	flags.BoolVar(&p.Mutants, "mutants", false, "list the conditions of rules that no test notices")
	return cmd
}

func newPolicyBundle() *cobra.Command {
	var out string
	var packs []string
	cmd := &cobra.Command{
		Use:   "bundle [DIR...]",
		Short: "Write your own rules as an OPA bundle",
		Long: `Bundle writes the rules below DIR (default: the folders of the configuration, or
policy) with their tests and fixtures, the rules of packs, and the libraries
that they import as an OPA bundle. opa eval and conftest run them on the output
of schedlint facts --format json; policy vendor copies them.`,
		Example: `  schedlint policy bundle -o policies.tar.gz policy
  schedlint facts -t nodes.yaml --rule web-runs-twice --format json . |
    opa eval -b policies.tar.gz -I 'data.schedlint.rules["web-runs-twice"].report'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs, err := policy.Dirs(args, len(packs) > 0)
			if err != nil {
				return err
			}
			return policy.WriteBundle(cmd.OutOrStdout(), out, dirs, packs)
		},
	}
	cmd.Flags().VarP(file(&out), "output", "o", "`file` of the bundle, a gzipped tar archive")
	cmd.Flags().StringArrayVar(&packs, "pack", nil, "also bundle the rules of this `pack` (repeatable)")
	if err := cmd.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func newPolicyVendor() *cobra.Command {
	var to string
	var forced bool
	cmd := &cobra.Command{
		Use:   "vendor DIR|TGZ",
		Short: "Copy the rules of others into the repository and lock them",
		Long: `Vendor copies rules from a folder, a gzipped tar archive or an OPA bundle, and
writes their SHA-256 digests to ` + vendored.LockName + ` beside them. Commands that
load rules refuse to run if a file differs from the lock, is missing or is not
in it. Fetching is left to other tools; vendor does not use the network.

Rule files, tests, fixtures, READMEs and licenses are copied; everything else is
listed. The rules must load together with your own. Run vendor again to update:
it replaces the folder, unless a file in it was changed or added.`,
		Example: `  schedlint policy vendor --to policy/vendor/acme acme-policies-1.2.tar.gz`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return policy.Vendor(cmd.OutOrStdout(), args[0], to, forced)
		},
	}
	cmd.Flags().Var(dir(&to), "to", "`directory` to copy to (default vendor/NAME below your own rules)")
	cmd.Flags().BoolVar(&forced, "force", false, "discard changes of the files in the directory")
	return cmd
}

func newPolicyImport() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Make rules of the templates and constraints of Gatekeeper",
		Long: `Import reads ConstraintTemplates and constraints from files and folders. Each
template becomes a rule that calls the template's Rego, which stays as it is.
Each constraint becomes an entry of custom: in the configuration, with its match
and parameters; deny is an error, warn a warning and dryrun a note. Constraints
about Pods look at the pods of Deployments and other kinds with a template.

The rules are written to a new folder with a lock, as by policy vendor. Where no
configuration is found, .schedlint.yaml is written; else the entries are
printed. No file is overwritten. What cannot be imported is listed: templates
without Rego, external data, mutations, and some matches.`,
		Example: `  schedlint policy import gatekeeper/templates gatekeeper/constraints`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return policy.Import(cmd.OutOrStdout(), args, to)
		},
	}
	cmd.Flags().Var(dir(&to), "to", "`directory` to write to (default vendor/gatekeeper below your own rules)")
	return cmd
}
