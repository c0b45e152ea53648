package cli

import (
	"os"
	"regexp"
	"testing"
)

// TestVersions compares the output of the version command with the linked modules and with the
// versions of the scheduler and of Helm in the oracles. It also compares the Go versions for
// releases and on GitLab with the version in go.mod.
func TestVersions(t *testing.T) {
	for _, of := range []struct{ file, before, said string }{
		{"../../../go.mod", "github.com/open-policy-agent/opa v", opaVersion},
		{"../../../lint/sched/oracle/go.mod", "k8s.io/kubernetes v", kubernetesVersion},
		{"../../../lint/chart/oracle/go.mod", "helm.sh/helm/v3 v", after(t, "../../../go.mod", "helm.sh/helm/v3 v")},
		{"../../../go.mod", "toolchain ", after(t, "../../../.goreleaser.yaml", "- GOTOOLCHAIN=")},
		{"../../../go.mod", "toolchain go", after(t, "../../../docs/gitlab/schedlint.yml", "SCHEDLINT_IMAGE: golang:")},
	} {
		if required := after(t, of.file, of.before); required != of.said {
			t.Errorf("%s%s is said, %s has %s", of.before, of.said, of.file, required)
		}
	}
}

// after returns the rest of the line that starts with the given text.
func after(t *testing.T, file, before string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(before) + `(\S+)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no %s", file, before)
	}
	return string(found[1])
}
