package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Sizes names pools and their numbers of nodes.
func Sizes(pools []model.PoolSize) string {
	var parts []string
	for _, p := range pools {
		parts = append(parts, fmt.Sprintf("%s at %d", p.Pool, p.Nodes))
	}
	return strings.Join(parts, ", ")
}

// Growth says at which size growing pools were counted, "" if they were not.
func Growth(pools []model.PoolSize) string {
	if len(pools) == 0 {
		return ""
	}
	return "node pools are counted at their max: " + Sizes(pools)
}

var companions = map[bound.CompanionKind]string{
	bound.WithAntiAffinity: "combined with required anti-affinity on %s",
	bound.WithAffinity:     "required affinity on %s keeps all its pods in one domain",
}

// Together is the rule that a limit follows from as well, "" if there is none.
func Together(c bound.Companion) string {
	if c.Kind == "" {
		return ""
	}
	return fmt.Sprintf(entry(companions, c.Kind), strings.Join(c.Keys, ", "))
}

// Unmet is what a required affinity term conflicts with, "" if it cannot be met by
// itself.
func Unmet(u *bound.Unmet) string {
	switch {
	case len(u.Beside) > 0:
		return "together with " + strings.Join(u.Beside, ", ")
	case u.Between[0] != nil:
		return fmt.Sprintf("%s and %s", u.Between[0], u.Between[1])
	}
	return ""
}
