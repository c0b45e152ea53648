package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint/diag"
)

// factorFlag is a number that multiplies budgets.
type factorFlag struct{ to *float64 }

// maxFactor keeps budgets countable.
const maxFactor = 1_000_000

func (factorFlag) String() string { return "" }
func (factorFlag) Type() string   { return "factor" }
func (f factorFlag) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0 && n <= maxFactor) {
		return fmt.Errorf("expected a number above 0, at most %d, found %q", maxFactor, s)
	}
	*f.to = n
	return nil
}

// addFailUnknown adds what is to become of a run with open questions.
func addFailUnknown(flags *pflag.FlagSet, to *string) {
	words := []string{diag.FailNone, diag.FailBudget, diag.FailAny}
	flags.Var(choiceFlag{to, words}, "fail-on-unknown", "undecided `questions` that fail the run: "+strings.Join(words, ", ")+"; budget means the step budget was exceeded (default none)")
}

func addSteps(flags *pflag.FlagSet, to *float64) {
	flags.Var(factorFlag{to}, "steps", "multiply the step budget of each question by this `factor`; 10 searches up to ten times longer (default 1)")
}
