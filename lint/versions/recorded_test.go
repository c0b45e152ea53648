package versions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/versions"
	"github.com/schedlint/schedlint/lint/workload"
)

type testcase struct {
	Name, Gate     string
	Nodes, Objects []map[string]any
}

// answer is what the API server and the scheduler of a release say of a case (see oracle/main.go).
type answer struct {
	Name, Refused string
	Dropped       []string
	Filters       []map[string]string
}

// TestRecorded checks that schedlint reads the cases as the recorded releases do.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testcase
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		t.Fatal(err)
	}
	recorded := map[string][]answer{}
	for _, release := range []string{"1.29", "1.33"} {
		text, err := os.ReadFile("testdata/recorded-" + release + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var answers []answer
		if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(cases) {
			t.Fatalf("%s: %d answers to %d cases (%v)", release, len(answers), len(cases), err)
		}
		recorded[release] = answers
	}
	told := map[string]int{}
	for i, c := range cases {
		for release, patch := range map[string]string{"1.29": "1.29", "1.33": "1.33.5"} {
			want := recorded[release][i]
			if got := ours(t, c, patch); !same(got, want) {
				t.Errorf("%s in %s:\ngot  %+v\nwant %+v", c.Name, release, got, want)
			}
		}
		if a, b := recorded["1.29"][i], recorded["1.33"][i]; !same(a, b) {
			told[c.Gate]++
		}
	}
	for _, f := range versions.Fields() {
		at := func(minor int) bool { return f.Keeps(versions.Version{Minor: minor, Patch: -1}) == diag.Always }
		if differs := at(29) != at(33); differs != (told[f.Gate] > 0) {
			t.Errorf("%s: the table says that 1.29 and 1.33 differ: %v; cases that do: %d", f.Gate, differs, told[f.Gate])
		}
		if n := count(cases, f.Gate); n < 2 {
			t.Errorf("%s: %d cases", f.Gate, n)
		}
	}
}

func count(cases []testcase, gate string) (n int) {
	for _, c := range cases {
		if c.Gate == gate {
			n++
		}
	}
	return n
}

// same compares the answers, but of a refusal only that there is one, and of a filter only whether
// it takes the pod. The claims of containers go with those of the pod.
func same(a, b answer) bool {
	ofContainer := func(path string) bool { return strings.HasSuffix(path, ".resources.claims") }
	a.Dropped, b.Dropped = slices.DeleteFunc(slices.Clone(a.Dropped), ofContainer), slices.DeleteFunc(slices.Clone(b.Dropped), ofContainer)
	return (a.Refused == "") == (b.Refused == "") && slices.Equal(a.Dropped, b.Dropped) && slices.EqualFunc(a.Filters, b.Filters, func(a, b map[string]string) bool {
		return maps.EqualFunc(a, b, func(a, b string) bool { return (a == "") == (b == "") })
	})
}

// ours answers a case as schedlint does for a version.
func ours(t *testing.T, c testcase, version string) answer {
	t.Helper()
	v, err := versions.Parse(version)
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.Load(parse(t, c.Nodes))
	if err != nil {
		t.Fatal(err)
	}
	reader := workload.NewReader(workload.NewTable())
	reader.Kubernetes = v
	set := reader.Load(parse(t, c.Objects), nil)
	reader.Bind(set, nil, storage.Declared{})
	out := answer{Name: c.Name}
	asked := c.Objects[len(c.Objects)-1]["metadata"].(map[string]any)["name"]
	i := slices.IndexFunc(set.Workloads, func(w *workload.Workload) bool { return w.Object.Name == asked })
	if i < 0 {
		return out // a budget
	}
	w := set.Workloads[i]
	for _, p := range w.Gated {
		if p.Stage == workload.StageVersion {
			out.Dropped = append(out.Dropped, p.Field)
		}
	}
	slices.Sort(out.Dropped)
	if w.Refused() {
		return answer{Name: c.Name, Refused: w.Problems[0].Message}
	}
	if w.Kind.Kind == "CronJob" {
		return out
	}
	m := sched.New(set, topo)
	state := check.NewState(m)
	count, _ := w.Count.Value.Int()
	for range max(1, count) {
		reasons := map[string]string{}
		for _, n := range m.Topology.Nodes {
			reasons[n.Name] = string(state.Filter(w, n))
		}
		out.Filters = append(out.Filters, reasons)
		free := slices.IndexFunc(m.Topology.Nodes, func(n *topology.Node) bool { return reasons[n.Name] == "" })
		if free < 0 {
			break
		}
		state.Place(w, m.Topology.Nodes[free])
	}
	return out
}

func parse(t *testing.T, docs []map[string]any) []*source.Object {
	t.Helper()
	var all []string
	for _, d := range docs {
		text, err := yaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(strings.Join(all, "---\n"))}, []string{"-"})
	if err != nil || len(set.Problems) > 0 {
		t.Fatal(fmt.Errorf("%v %v", err, set.Problems))
	}
	return set.Objects
}
