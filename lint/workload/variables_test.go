package workload

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// TestMisspeltConstants holds every word that a field takes against the definition of
// placeholders: in capitals and with underscores it is a slip.
func TestMisspeltConstants(t *testing.T) {
	humps := regexp.MustCompile(`([a-z])([A-Z])`)
	for _, words := range [][]string{
		completion, management, deploymentUpdates, setUpdates, preemptions, protocols, evictionPolicies, tolerationOperators, taintEffects,
		labelOperators.names, nodeOperators.names, fieldOperators.names, {"Always", "OnFailure", "Never", "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore"},
	} {
		for _, word := range words {
			if slip := strings.ToUpper(humps.ReplaceAllString(word, "${1}_${2}")); source.Placeholder(slip) {
				t.Errorf("%s is a placeholder", slip)
			}
		}
	}
}

// TestHostname reads HOSTNAME as a placeholder where a node is named, and nowhere else.
func TestHostname(t *testing.T) {
	for spec, open := range map[string]string{
		"nodeName: HOSTNAME": "nodeName",
		"nodeSelector: {kubernetes.io/hostname: HOSTNAME}":             "nodeSelector.kubernetes.io/hostname",
		"nodeSelector: {kubernetes.io/hostname: NODE, zone: HOSTNAME}": "",
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a, HOSTNAME]}]}]}}}": "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[1]",
		"nodeSelector: {image: '${X}'}":                    "nodeSelector.image",
		"tolerations: [{key: HOSTNAME, operator: Exists}]": "",
	} {
		set := loadSet(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n  "+spec+"\n")
		w := set.Workloads[0]
		if got := strings.Join(w.Open, " "); got != open || len(w.Problems) > 0 || slices.Contains(w.Placeholders, "HOSTNAME") != (open != "" && strings.Contains(spec, "HOSTNAME")) {
			t.Errorf("%s: open %q, placeholders %q, problems %v", spec, got, w.Placeholders, w.Problems)
		}
	}
}
