package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// GrownPools returns pools in the vocabulary of rules.
func GrownPools(pools []model.PoolSize) []facts.GrownPool {
	rows := make([]facts.GrownPool, len(pools))
	for i, p := range pools {
		rows[i] = facts.GrownPool{Pool: p.Pool, Max: p.Nodes}
	}
	return rows
}

// growth says at which size growing pools were counted; "" if there are none.
func growth(pools []facts.GrownPool) string {
	if len(pools) == 0 {
		return ""
	}
	return "node pools are counted at their max: " + sizes(pools)
}

func sizes(pools []facts.GrownPool) string {
	var parts []string
	for _, p := range pools {
		parts = append(parts, fmt.Sprintf("%s at %d", p.Pool, p.Max))
	}
	return strings.Join(parts, ", ")
}

// FitsOnceGrown is a note that a workload fits only if pools grow.
func FitsOnceGrown(w *workload.Workload, l *bound.Limit) string {
	return fmt.Sprintf("%s fits only if node pools grow beyond their count (%s): %s fit at count, %s to schedule",
		w, sizes(GrownPools(l.Growth)), plural(l.AtCount, "pod"), plural(l.Pods, "pod"))
}

var companions = map[bound.CompanionKind]string{
	bound.WithAntiAffinity: "combined with required anti-affinity on %s",
	bound.WithAffinity:     "required affinity on %s keeps all its pods in one domain",
}

// together names the other rules that a limit depends on; "" if there are none.
func together(rules []facts.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	keys := make([]string, len(rules))
	for i, r := range rules {
		keys[i] = r.Key
	}
	return fmt.Sprintf(entry(companions, bound.CompanionKind(rules[0].Use)), strings.Join(keys, ", "))
}
