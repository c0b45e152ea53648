package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/disruption"
)

// Reasons of answers about changes, as the place command prints them.
const (
	StrategyRefuses   = "its evictionStrategy refuses eviction until the machine has migrated"
	DependsOnMachines = "depends on where the other machines are"
)

// ManyBudgets is said of pods that several budgets select.
func ManyBudgets(n int) string {
	return fmt.Sprintf("%d PodDisruptionBudgets select its pods, so every eviction is refused", n)
}

// NoDisruptions is said of a budget that allows none.
func NoDisruptions(b *disruption.Budget) string {
	return fmt.Sprintf("%s allows no disruptions%s%s", b, whileSmall(b.WhileSmall, b.UpTo, len(b.Workloads)), aside(Budget(b)))
}

// ThenNoDisruptions is said of a budget that allows none after a drain.
func ThenNoDisruptions(budget, demands string) string {
	return fmt.Sprintf("; then %s (%s)", NoFurtherDisruptions(budget), demands)
}

// Drained says what the worst drain leaves behind of a number of pods.
func Drained(d *disruption.Drain, pods int) string {
	leaves, pending := "leaves", max(d.Worst.Pending, d.Certain)
	switch {
	case d.Answer == diag.Sometimes:
		leaves = "can leave"
	case d.Certain > 0 && d.Certain < pending:
		leaves = fmt.Sprintf("leaves %d to", d.Certain)
	}
	return fmt.Sprintf("draining %s%s %s %d of %s Pending%s", d.Worst.Value, Like(d.Like, "node"), leaves, pending, plural(pods, "pod"), whereItRuns(d.Certain > 0, pods))
}

// AtMost says how many pods fit, "" if nothing is known to limit them.
func AtMost(l *facts.Limit) string {
	if fit := Fit(l); fit != "" {
		return "at most " + fit
	}
	return ""
}

// NoTarget says which rules leave no node for a machine that migrates.
func NoTarget(rules string) string {
	return "no node can take the migration target while the machine runs: " + rules
}

// ScalesBeyond says how many of the pods fit that an autoscaler may ask for.
func ScalesBeyond(fit, most int, l *facts.Limit) string {
	return fmt.Sprintf("only %d of up to %d pods fit: %s", fit, most, Limiting(l))
}
