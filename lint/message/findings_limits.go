package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/facts"
)

// limitFindings are about where the pods of workloads can go.
func limitFindings() map[string]rowWords {
	return map[string]rowWords{
		"one-node-takes-all": of(oneNodeTakesAll),
	}
}

func oneNodeTakesAll(r *facts.Sharing, in *facts.Facts) Text {
	parts := []string{fmt.Sprintf("losing node %s can take down all %s", r.Node, plural(r.Pods, podWord(in, r.W)))}
	if r.Zones > 0 {
		share := fmt.Sprintf("%d of %d", r.InOneZone, r.Pods)
		if r.InOneZone >= r.Pods {
			share = fmt.Sprintf("all %d", r.Pods)
		}
		parts = append(parts, "losing a zone can take down "+share)
	}
	for _, rule := range r.Soft {
		parts = append(parts, preferred(rule)+" is not enforced")
	}
	return about(in.Ref(r.W), parts...)
}

// preferred names a preferred rule.
func preferred(r facts.Rule) string {
	if r.Use == "spread" {
		return "ScheduleAnyway spread on " + r.Key
	}
	return fmt.Sprintf("preferred %s on %s", r.Use, r.Key)
}

// podWord is what the pods of a workload are called: replicas, where it has any.
func podWord(in *facts.Facts, w int) string {
	if w >= 0 && w < len(in.Workloads) {
		switch in.Workloads[w].Kind {
		case "CronJob", "DaemonSet", "Job", "Pod":
			return "pod"
		}
	}
	return "replica"
}
