package main

import (
	"os"
	"regexp"
	"testing"
)

// TestVersions holds what the version command says against what is built in,
// and against the scheduler that the oracle asks.
func TestVersions(t *testing.T) {
	for _, of := range []struct{ file, module, said string }{
		{"../../go.mod", "github.com/open-policy-agent/opa", opaVersion},
		{"../../lint/placement/oracle/go.mod", "k8s.io/kubernetes", kubernetesVersion},
	} {
		text, err := os.ReadFile(of.file)
		if err != nil {
			t.Fatal(err)
		}
		required := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(of.module) + ` v(\S+)$`).FindSubmatch(text)
		if required == nil {
			t.Errorf("%s is not in %s", of.module, of.file)
		} else if string(required[1]) != of.said {
			t.Errorf("schedlint version says %s of %s, %s requires %s", of.said, of.module, of.file, required[1])
		}
	}
}
