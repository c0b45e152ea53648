package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/facts"
)

// changeFindings are about what becomes of workloads when something changes.
func changeFindings() map[string]rowWords {
	return map[string]rowWords{
		"rollout-ends-skewed": of(rolloutEndsSkewed),
	}
}

func rolloutEndsSkewed(r *facts.Skew, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		"a rollout can end with unevenly spread pods"+aside(scale(r.At, r.Scaler, r.Replicas)),
		fmt.Sprintf("old pods count during the rollout, so the new pods can end up beyond maxSkew %d on %s", r.MaxSkew, r.Key))
}

// scale says at which end of an autoscaler's range something is so.
func scale(at, scaler string, replicas int) string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf("at the %s of its %s: %s", at, scaler, plural(replicas, "replica"))
}
