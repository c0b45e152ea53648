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

// ManyBudgets is the reason for pods that several budgets select.
func ManyBudgets(n int) string {
	return fmt.Sprintf("%d PodDisruptionBudgets select its pods, so every eviction is refused", n)
}

// NoDisruptions is the reason for a budget that allows no disruptions.
func NoDisruptions(b *disruption.Budget) string {
	return fmt.Sprintf("%s allows no disruptions%s%s", b, whileSmall(b.WhileSmall, b.UpTo, len(b.Workloads)), aside(Budget(b)))
}

// ThenNoDisruptions is the reason for a budget that allows no disruptions after a drain.
func ThenNoDisruptions(budget, demands string) string {
	return fmt.Sprintf("; then %s (%s)", NoFurtherDisruptions(budget), demands)
}

// Drained says how many of the pods the worst drain leaves Pending.
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

// AtMost says how many pods fit; "" if no limit is known.
func AtMost(l *facts.Limit) string {
	if fit := Fit(l); fit != "" {
		return "at most " + fit
	}
	return ""
}

// NoTarget names the rules that leave no node for a machine that migrates.
func NoTarget(rules string) string {
	return "no node can take the migration target while the machine runs: " + rules
}

// ScalesBeyond says how many of the pods fit that an autoscaler may ask for.
func ScalesBeyond(fit, most int, l *facts.Limit) string {
	return fmt.Sprintf("only %d of up to %d pods fit: %s", fit, most, Limiting(l))
}
