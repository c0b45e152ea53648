package workload

import (
	"fmt"
	"testing"
)

// TestLabelKeysOfJobs checks that only the pods of an Indexed Job have a completion index when they
// are created. The index is merged into the selector, and refused if the selector already names it
// (R-V22, R-W14).
func TestLabelKeysOfJobs(t *testing.T) {
	for mode, refused := range map[string]bool{"Indexed": true, "NonIndexed": false} {
		set := loadSet(t, fmt.Sprintf(`
{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {completionMode: %s, completions: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}],
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {batch.kubernetes.io/job-completion-index: "2"}},
    matchLabelKeys: [batch.kubernetes.io/job-completion-index]}]}}}}}}`, mode))
		if problems := set.Workloads[0].Problems; (len(problems) > 0) != refused {
			t.Errorf("%s: %+v, want refused: %t", mode, problems, refused)
		}
	}
}
