package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// bad returns facts that most rules report several times each.
func bad(n int) *facts.Facts {
	f := &facts.Facts{}
	last := 0
	id := func() int { last++; return last }
	for i := range n {
		w := fmt.Sprintf("Deployment shop/web-%d", i)
		for _, stage := range []string{"object", "pods"} {
			f.Refusals = append(f.Refusals, facts.Refusal{ID: id(), Object: w, Stage: stage, Field: "spec", Reason: "Required value"})
		}
		f.Documents = append(f.Documents, facts.Document{ID: id(), Problem: "duplicate-key", Detail: "spec", FirstLine: i})
		f.UnknownFields = append(f.UnknownFields, facts.UnknownField{ID: id(), Object: w, Field: "toleration", Suggestion: "tolerations"})
		f.Eligibility = append(f.Eligibility, facts.Eligibility{ID: id(), W: i, Outcome: diag.Never, Nodes: 3, Excluded: []facts.Exclusion{{Reason: "cordoned", Nodes: 3, Names: []string{"a", "b", "c"}}}})
		f.AntiAffinity = append(f.AntiAffinity, facts.AntiAffinity{ID: id(), W: i, Outcome: diag.Never, Pods: 600, Domains: 599, Most: 599, Pending: 1})
		f.Circles = append(f.Circles, facts.Circle{ID: id(), W: i, Members: []int{i, 0, i}, Member: true})
		f.TopologyKeys = append(f.TopologyKeys, facts.TopologyKey{ID: id(), Object: w, Use: "spread", Key: "rack", Declared: true, Usable: 3, With: i % 3, Without: []string{"a"}})
		f.Selectors = append(f.Selectors, facts.Selector{ID: id(), W: i, Use: "anti-affinity", Form: "null", MatchesOwn: diag.Never})
	}
	return f
}

// describe adds workloads with unique ids to facts.
func describe(f *facts.Facts, n int) {
	first := len(f.Rows())
	f.Workloads = healthy(n).Workloads
	for i := range f.Workloads {
		f.Workloads[i].ID = first + i
	}
}

func evaluated(t *testing.T, e *Engine, f *facts.Facts) []facts.Judgement {
	t.Helper()
	got, err := e.Evaluate(context.Background(), f, facts.NewTally())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEvaluateIsSortedAndSilentOnHealth(t *testing.T) {
	e := loaded(t, Options{})
	if got := evaluated(t, e, healthy(20)); len(got) != 0 {
		t.Errorf("healthy workloads are reported: %v", got)
	}
	if got := evaluated(t, e, &facts.Facts{}); len(got) != 0 {
		t.Errorf("nothing is reported: %v", got)
	}
	got := evaluated(t, e, bad(20))
	if len(got) < 8*20 || !slices.IsSortedFunc(got, func(a, b facts.Judgement) int { return a.Fact - b.Fact }) {
		t.Errorf("%d judgements, want at least 160, sorted by fact", len(got))
	}
}

// TestDeterminism shuffles the facts and shares the engine between goroutines. It expects the same
// findings every time.
func TestDeterminism(t *testing.T) {
	want := evaluated(t, loaded(t, Options{}), bad(10))
	shared := loaded(t, Options{})
	var group sync.WaitGroup
	for range 8 {
		f := bad(10)
		rand.Shuffle(len(f.TopologyKeys), reflect.Swapper(f.TopologyKeys))
		rand.Shuffle(len(f.Refusals), reflect.Swapper(f.Refusals))
		group.Go(func() {
			got, err := shared.Evaluate(context.Background(), f, facts.NewTally())
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	group.Wait()
}

// TestTrustedCompilation checks that the short compilation of built-in rules gives the same
// results as the complete compilation of custom rules.
func TestTrustedCompilation(t *testing.T) {
	checked, err := Load(Options{Dirs: []string{"../rules"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(evaluated(t, checked, bad(5)), evaluated(t, loaded(t, Options{Packs: loaded(t, Options{}).Packs()}), bad(5))); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyWhatIsNeeded checks that rules without facts are not compiled until a later run has
// facts for them.
func TestOnlyWhatIsNeeded(t *testing.T) {
	e := loaded(t, Options{})
	evaluated(t, e, &facts.Facts{Circles: bad(1).Circles})
	for _, r := range e.rules {
		if compiled := r.program != nil; compiled != (r.id == "circular-affinity") {
			t.Errorf("%s: compiled is %v for a run with circles only", r.id, compiled)
		}
	}
	if diff := cmp.Diff(evaluated(t, loaded(t, Options{}), bad(3)), evaluated(t, e, bad(3))); diff != "" {
		t.Error(diff)
	}
}

// TestConvert compares the direct conversion of facts with a conversion through JSON.
func TestConvert(t *testing.T) {
	f := bad(3)
	describe(f, 2)
	f.Selectors[0].Text = `quote " and 猫`
	for _, want := range [][]string{nil, {"circles", "selectors"}} {
		read := reads{all: want == nil, paths: map[string]bool{}}
		for _, list := range want {
			read.paths[list] = true
		}
		if got := convert(f, &read); !got.Equal(overJSON(t, f, want)) {
			t.Errorf("lists %v are converted in another way than over JSON", want)
		}
	}
}

// overJSON converts the given lists through JSON, or all lists if none are given.
func overJSON(t *testing.T, f *facts.Facts, lists []string) *ast.Term {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	whole := regexp.MustCompile(`"((?:pod_|namespace_)?labels|(?:pod_)?annotations)":null`).ReplaceAllString(string(text), `"$1":{}`)
	if err := util.UnmarshalJSON([]byte(strings.ReplaceAll(whole, ":null", ":[]")), &m); err != nil {
		t.Fatal(err)
	}
	for name := range m {
		if lists != nil && !slices.Contains(lists, name) {
			delete(m, name)
		}
	}
	v, err := ast.InterfaceToValue(m)
	if err != nil {
		t.Fatal(err)
	}
	return ast.NewTerm(v)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := loaded(t, Options{}).Evaluate(ctx, bad(100), facts.NewTally()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one that is context.Canceled", err)
	}
}

func TestReadsOf(t *testing.T) {
	for text, want := range map[string]string{
		"# input\n# schemas:\n#   - input: schema.facts\npackage x\n":     "false []",
		"\npackage x\nsome f in input.workloads":                          "false [workloads]",
		"\npackage x\nsome f in input.workloads; some g in input.room[_]": "false [room workloads]",
		"\npackage x\nimport input.spreads as s":                          "false [spreads]",
		"\npackage x\nmy_input.room inputs.room foo.input.room":           "false []",
		"\npackage x\nsome f in input[\"workloads\"]":                     "true []",
		"\npackage x\nf(input)":                                           "true []",
		"\npackage x\ninput":                                              "true []",
		"package x\ninput.room":                                           "false [room]",
	} {
		r := readsOf(text)
		var lists []string
		for list := range r.paths {
			lists = append(lists, list)
		}
		slices.Sort(lists)
		if got := fmt.Sprint(r.all, lists); got != want {
			t.Errorf("%q reads %s, want %s", text, got, want)
		}
	}
}

// TestAllowed checks that OPA has all functions on the allow-list, and that the list has no
// forbidden functions.
func TestAllowed(t *testing.T) {
	known := map[string]*ast.Builtin{}
	for _, b := range ast.Builtins {
		known[b.Name] = b
	}
	for _, name := range allowed() {
		switch b := known[name]; {
		case b == nil:
			t.Errorf("%s: OPA has no such function", name)
		case b.Nondeterministic || b.IsDeprecated():
			t.Errorf("%s is nondeterministic or deprecated", name)
		}
	}
	if c := capabilities(); len(c.Builtins) != len(allowed()) || c.AllowNet == nil || len(c.AllowNet) != 0 {
		t.Errorf("%d functions for %d names, hosts %v", len(c.Builtins), len(allowed()), c.AllowNet)
	}
}

// TestRefused checks that refused has a reason for exactly the functions that rules may not call.
func TestRefused(t *testing.T) {
	for _, b := range ast.Builtins {
		why := insteadOf(b.Name)
		if given := !strings.HasPrefix(why, "see https") && !strings.HasPrefix(why, "did you mean"); given == slices.Contains(allowed(), b.Name) {
			t.Errorf("%s: %s", b.Name, why)
		}
	}
}

// FuzzModule loads arbitrary text as a custom rule, which may return an error but must not panic.
func FuzzModule(f *testing.F) {
	f.Add(head + body)
	f.Add(needs("x", "\n#   template: true\n#   asks: [{survive: zone}]"))
	f.Add(head + "report contains " + strings.Repeat("[", 1000))
	f.Add("package x\n# METADATA\n# title: {\n")
	f.Add("")
	f.Fuzz(func(_ *testing.T, text string) {
		if m, errs := newModule("x.rego", text); len(errs) == 0 {
			_, _ = compileChecked(compilation{own: []*module{m}})
		}
	})
}
