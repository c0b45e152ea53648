//go:build ablation

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// The clusters that the table of THEORY.md counts answers on.
const (
	everydaySeed, everydayClusters = 41, 5
	familySeed, familyClusters     = 41, 2
)

// TestClaimsThatDecide switches off one claim of THEORY.md at a time and counts the answers that become
// unknown. It also counts other changes. It prints the table at the end of THEORY.md. Some claims at a time:
// go test -tags ablation ./cmd/schedlint/cli -run 'TestClaimsThatDecide/T16' -v
func TestClaimsThatDecide(t *testing.T) {
	dir := t.TempDir()
	var cases []string
	add := func(c *clusters.Case) {
		at := filepath.Join(dir, fmt.Sprint(len(cases)))
		nodes, manifests := c.Text()
		for name, text := range map[string]string{"nodes.yaml": nodes, "manifests.yaml": manifests} {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cases = append(cases, at)
	}
	for i := range uint64(everydayClusters) {
		add(clusters.Everyday(everydaySeed, i))
	}
	for _, family := range clusters.Families {
		for i := range uint64(familyClusters) {
			if family != "invalid" {
				add(clusters.Generate(family, familySeed, i))
			}
		}
	}
	all := make([]map[string]string, len(cases))
	decided := 0
	for i, at := range cases {
		all[i] = answers(t, at)
		for _, a := range all[i] {
			if a == "always" || a == "sometimes" || a == "never" {
				decided++
			}
		}
	}
	fmt.Printf("| of %d answers | unknown without it |\n| --- | --- |\n", decided)
	for _, claim := range switches(t) {
		t.Run(claim, func(t *testing.T) {
			model.SwitchedOff = claim
			defer func() { model.SwitchedOff = "" }()
			lost := map[string]int{}
			sum := 0
			for i, at := range cases {
				for question, a := range answers(t, at) {
					name := question[strings.LastIndex(question, " ")+1:]
					switch was := all[i][question]; {
					case a == was || was == "unknown" || was == "none":
					case a == "unknown":
						lost[name]++
						sum++
					default:
						lost[fmt.Sprintf("%s from %s to %s", name, was, a)]++
					}
				}
			}
			var each []string
			for _, name := range slices.Sorted(maps.Keys(lost)) {
				each = append(each, fmt.Sprintf("%d %s", lost[name], name))
			}
			fmt.Printf("| %s | %d | %s |\n", claim, sum, strings.Join(each, ", "))
		})
	}
}

// switches returns the claims that the engine can switch off.
func switches(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "lint", "sched", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bmodel\.Off\("(\w+)"\)`).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// answers returns the answers about one cluster. Each key ends in a space and the name of the question.
func answers(t *testing.T, dir string) map[string]string {
	t.Helper()
	var out, errs bytes.Buffer
	nodes, manifests := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "manifests.yaml")
	if code := Run([]string{"facts", "--runs", "0", "-t", nodes, "--survive", "node", "--format", "json", manifests}, strings.NewReader(""), &out, &errs); code > 1 {
		t.Fatalf("%s: status %d: %s", dir, code, errs.String())
	}
	var doc struct {
		Workloads []struct {
			Ref     any                        `json:"ref"`
			Answers map[string]json.RawMessage `json:"answers"`
		} `json:"workloads"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i, w := range doc.Workloads {
		var survives []map[string]any
		for name, raw := range w.Answers {
			var outcome string
			switch {
			case name == "survives":
				if err := json.Unmarshal(raw, &survives); err != nil {
					t.Fatal(err)
				}
			case json.Unmarshal(raw, &outcome) == nil:
				all[fmt.Sprint(i, " ", name)] = outcome
			}
		}
		for _, s := range survives {
			for _, meaning := range []string{"gone", "unreachable"} {
				all[fmt.Sprint(i, " ", s["key"], " ", meaning)] = fmt.Sprint(s[meaning])
			}
		}
	}
	return all
}
