package lint_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

var nodeKinds = regexp.MustCompile(`(?m)^kind: Node(Topology|List)?$|apiVersion: karpenter.sh`)

// TestAdditionKeepsFindings puts two trees side by side. What lint and place say of the first one alone is all there:
// files of others beside it hide nothing. A pod or an object that a finding misses may be among them.
func TestAdditionKeepsFindings(t *testing.T) {
	all := slices.DeleteFunc(trees(t), func(of tree) bool { // nodes count for both
		text, err := os.ReadFile(filepath.Join(of.dir, of.path))
		return err != nil || nodeKinds.Match(text)
	})
	missing := map[string]bool{"selector-matches-no-pod": true, "volume-claim-undeclared": true, "unknown-priority-class": true}
	pairs, kept, answers := 0, 0, 0
	for seed := range trials.Seeds(t, trials.Of(t, 400)) {
		d := rand.New(rand.NewPCG(uint64(seed), 61))
		a, b := all[d.IntN(len(all))], all[d.IntN(len(all))]
		dir := t.TempDir()
		for at, of := range map[string]tree{"a": a, "b": b} {
			text, err := os.ReadFile(filepath.Join(of.dir, of.path))
			if err != nil {
				t.Fatal(err)
			}
			writeFiles(t, dir, map[string]string{at + "/" + filepath.Base(of.path): string(text)})
		}
		var nodes []string
		if a.topology != "" {
			text, err := os.ReadFile(filepath.Join(a.dir, a.topology))
			if err != nil {
				t.Fatal(err)
			}
			writeFiles(t, dir, map[string]string{"nodes.yaml": string(text)})
			nodes = []string{"nodes.yaml"}
		}
		said := func(paths ...string) (map[string]bool, []diag.Diagnostic) {
			r, err := run(t, dir, nodes, paths...)
			if err != nil && !errors.Is(err, lint.ErrNothing) && !errors.Is(err, lint.ErrNoObject) {
				return nil, nil
			}
			at := map[string]bool{}
			for _, f := range r.Diagnostics {
				at[fmt.Sprint(f.Rule, f.Location, f.Object)] = true
			}
			return at, r.Diagnostics
		}
		_, alone := said("a")
		both, _ := said("a", "b")
		if both == nil {
			continue
		}
		rows := func(paths ...string) map[string]bool {
			all := map[string]bool{}
			doc, err := lint.Place(context.Background(), lint.Options{Dir: dir, Root: dir, Topology: nodes, Paths: paths})
			if err != nil {
				return nil
			}
			for _, p := range doc.Decisions {
				for i := range p.Workloads {
					w := &p.Workloads[i]
					all[w.Kind+" "+w.Namespace+"/"+w.Name+" "+answered(w)] = true
				}
			}
			return all
		}
		if alone, both := rows("a"), rows("a", "b"); both != nil {
			for row := range alone {
				if answers++; !both[row] {
					t.Errorf("seed %d: %s beside %s: lost the answer %s", seed, a.name, b.name, row)
				}
			}
		}
		pairs++
		for _, f := range alone {
			if both[fmt.Sprint(f.Rule, f.Location, f.Object)] {
				kept++
			} else if !missing[f.Rule] {
				t.Errorf("seed %d: %s beside %s: lost %s: %s", seed, a.name, b.name, f.Rule, strings.TrimSpace(f.Message))
			}
		}
	}
	t.Logf("%d pairs, %d findings and %d answers kept", pairs, kept, answers)
	if pairs < trials.Share(t, 200) || kept == 0 && !trials.Few(t) {
		t.Errorf("%d pairs, %d findings", pairs, kept)
	}
}
