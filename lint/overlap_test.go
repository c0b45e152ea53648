package lint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// overlaps lists the pairs of rules that may report the same question about one row, and the
// reason.
var overlaps = map[string]string{
	"capacity.short-after-node-loss capacity.short-after-zone-loss":             "they judge different losses",
	"multi-tenant.outside-own-pools multi-tenant.toleration-opens-foreign-pool": "they name different pools: those of no tenant, and those of other tenants",
	"multi-tenant.outside-own-pools multi-tenant.uses-foreign-pool":             "they name different pools: those of no tenant, and those of other tenants",
}

// asksAlso lists fields of descriptions that answer the question of a list.
var asksAlso = map[string]string{
	"workloads.answers.rolls": "rollouts", "workloads.answers.drains": "drains", "workloads.answers.migrates": "migrations",
	"workloads.answers.autoscales": "autoscalers", "workloads.answers.survives": "losses", "workloads.on_one_node_max": "sharing",
	"workloads.in_one_zone_max": "sharing", "workloads.budgets": "budgets", "workloads.scalers": "autoscalers",
	"workloads.pools": "pools of a workload", "workloads.tolerations.pools": "pools of a workload",
}

// describing are the lists that describe the input: a row of theirs answers many questions.
var describing = []string{"workloads", "pools", "nodes", "objects"}

// reporting records which rules report which rows.
type reporting struct {
	*rego.Engine
	asked map[string][]string // the questions that each rule reads
	by    map[string][]string // the rules that report each question of each row
	wide  map[string][]string // the rules that report it about an entire workload
	runs  int
}

func (r *reporting) Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error) {
	said, err := r.Engine.Evaluate(ctx, f, tally)
	rows, owners := f.Rows(), ownersOf(f)
	r.runs++
	for _, j := range said {
		row := rows[j.Fact]
		if !slices.Contains(describing, row.List) {
			add(r.by, fmt.Sprint(r.runs, row.List, " ", j.Fact), j.Rule)
			if w := reflect.ValueOf(row.Value).Elem().FieldByName("W"); w.IsValid() {
				add(r.by, fmt.Sprint(r.runs, row.List, " of ", w), j.Rule)
			}
			continue
		}
		for _, question := range r.asked[j.Rule] {
			if w, known := owners[j.Fact]; known {
				add(r.by, fmt.Sprint(r.runs, question, " of ", w), j.Rule)
				add(r.wide, fmt.Sprint(r.runs, question, " of ", w), j.Rule)
			}
		}
	}
	return said, err
}

func add(to map[string][]string, key, rule string) {
	if !slices.Contains(to[key], rule) {
		to[key] = append(to[key], rule)
	}
}

// ownersOf returns the workloads of all rows in their descriptions, by id.
func ownersOf(f *facts.Facts) map[int]int {
	owners := map[int]int{}
	for w := range f.Workloads {
		for id, row := range (&facts.Facts{Workloads: f.Workloads[w : w+1]}).Rows() {
			if row.Value != nil {
				owners[id] = w
			}
		}
	}
	return owners
}

// pairs returns the pairs of rules that report the same question about the same row or the same
// workload.
func (r *reporting) pairs() map[string]bool {
	all := map[string]bool{}
	for key, ids := range r.by {
		ids = slices.Sorted(slices.Values(ids))
		for i, a := range ids {
			for _, b := range ids[i+1:] {
				if !strings.Contains(key, " of ") || slices.Contains(r.wide[key], a) || slices.Contains(r.wide[key], b) {
					all[a+" "+b] = true
				}
			}
		}
	}
	return all
}

// questionsOf returns the questions that a rule reads.
func questionsOf(e *rego.Engine, id string) (all []string) {
	lists := reflect.TypeFor[facts.Facts]()
	for list := range lists.Fields() {
		name := list.Tag.Get("json")
		if !slices.Contains(describing, name) && list.Type.Kind() == reflect.Slice && e.MayRead(id, name) {
			all = append(all, name)
		}
	}
	for field, question := range asksAlso {
		if e.MayRead(id, field) {
			all = append(all, question)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// withPacks loads all rules, including those of all packs, with the parameters of a fixture for
// the rules of its pack that have them.
func withPacks(t *testing.T, pack string, given map[string]any) *rego.Engine {
	t.Helper()
	params := map[string]rego.Values{}
	for _, r := range linttest.Engine(t).All() {
		values := map[string]any{}
		for name, value := range given {
			if r.Pack == pack && strings.Contains(linttest.Engine(t).Source(r.ID), "#       "+name+":") {
				values[name] = value
			}
		}
		if len(values) > 0 {
			params[r.ID] = rego.Values{Values: values}
		}
	}
	e, err := rego.Load(rego.Options{Rules: rules.FS, Packs: linttest.Engine(t).Packs(), Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRulesDoNotOverlap checks, with all packs on and for every fixture, that no two rules
// report the same question about the same row. A fault is reported once.
func TestRulesDoNotOverlap(t *testing.T) {
	var files []string
	err := filepath.WalkDir("../fixtures", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".yaml") && !strings.HasPrefix(d.Name(), "nodes") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	policies, used := map[string]*reporting{}, map[string]bool{}
	for _, path := range trials.Sample(t, files, 40) {
		for pair := range overlapping(t, path, policies) {
			if used[pair] = true; overlaps[pair] == "" {
				t.Errorf("%s: two rules report the same: %s", path, pair)
			}
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(overlaps)) {
		if !used[pair] && !trials.Few(t) {
			t.Errorf("%s do not overlap in any fixture; take them off the list", pair)
		}
	}
}

// TestPackSizes checks that a pack is large enough to be useful and small enough to review.
func TestPackSizes(t *testing.T) {
	count := map[string]int{}
	for _, r := range linttest.Engine(t).All() {
		count[r.Pack]++
	}
	for _, pack := range linttest.Engine(t).Packs() {
		if n := count[pack]; n < 5 || n > 9 {
			t.Errorf("pack %s has %d rules, want 5 to 9", pack, n)
		}
	}
}

// overlapping returns the rules that report the same in a fixture.
func overlapping(t *testing.T, path string, policies map[string]*reporting) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, pack, given := "", filepath.Base(filepath.Dir(filepath.Dir(path))), map[string]any{}
	if m := paramsLine.FindSubmatch(text); m != nil && pack != "templates" {
		if line = pack + string(m[1]); json.Unmarshal(m[1], &given) != nil {
			t.Fatalf("%s: %s", path, line)
		}
	}
	if policies[line] == nil {
		e := withPacks(t, pack, given)
		policies[line] = &reporting{Engine: e, asked: map[string][]string{}}
		for _, id := range e.IDs() {
			policies[line].asked[id] = questionsOf(e, id)
		}
	}
	return reportedTwice(t, path, text, policies[line])
}

func reportedTwice(t *testing.T, path string, text []byte, policy *reporting) map[string]bool {
	t.Helper()
	nodes := "nodes.yaml"
	if m := nodesLine.FindSubmatch(text); m != nil {
		nodes = string(m[1])
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var topology []string
	if _, err := os.Stat(filepath.Join(dir, nodes)); err == nil {
		topology = []string{nodes}
	}
	policy.by, policy.wide = map[string][]string{}, map[string][]string{}
	if _, err := lint.Run(context.Background(), lint.Options{
		Dir: dir, Root: dir, Paths: []string{filepath.Base(path)}, Topology: topology, Policy: policy, Survive: linttest.Survive(text), Today: "2026-11-21",
		Level: func(string) diag.Level { return diag.LevelError },
	}); err != nil && !strings.Contains(err.Error(), "nothing was checked") {
		t.Logf("%s: %v", path, err)
	}
	return policy.pairs()
}
