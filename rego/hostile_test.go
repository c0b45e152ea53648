package rego

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/facts"
)

// hostileRule returns a rule with the given id. The body must set its message.
func hostileRule(id, body string) string {
	return strings.Replace(head, "no-default-namespace", id, 1) +
		"report contains result.finding(rego.metadata.chain(), fact, {\"message\": message}) if {\n\tsome fact in input.workloads\n" + body + "}\n"
}

// nested repeats a line with increasing numbers. In the line, %[1]d is the number and %[2]d the
// previous one.
func nested(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i+1, i)
	}
	return b.String()
}

// hostileRules lists rules that exhaust time or memory, with the reason why each of them fails.
var hostileRules = map[string]struct{ body, want string }{
	"concat": {`	s0 := "0123456789"` + "\n" + nested(20, `	s%d := concat("", [s%[2]d, s%[2]d, s%[2]d])`+"\n") + "\tmessage := s20\n",
		"concat makes a string of more than 1 MiB"},
	"replace": {`	s0 := "aaaaaaaaaa"` + "\n" + nested(10, `	s%d := replace(s%[2]d, "a", s%[2]d)`+"\n") + "\tmessage := s10\n",
		"replace makes a string of more than 1 MiB"},
	"replace-n": {`	s0 := "aaaaaaaaaa"` + "\n" + nested(10, `	s%d := strings.replace_n({"a": s%[2]d}, s%[2]d)`+"\n") + "\tmessage := s10\n",
		"strings.replace_n makes a string of more than 1 MiB"},
	"regex-replace": {`	s0 := "aaaaaaaaaa"` + "\n" + nested(10, `	s%d := regex.replace(s%[2]d, "a", s%[2]d)`+"\n") + "\tmessage := s10\n",
		"regex.replace makes a string of more than 1 MiB"},
	"template": {`	s0 := "0123456789"` + "\n" + nested(25, "\ts%d := $\"{s%[2]d}{s%[2]d}\"\n") + "\tmessage := s25\n",
		"template_string makes a string of more than 1 MiB"},
	"widths":       {`	message := sprintf("` + strings.Repeat("%999999d", 2) + `", [1, 2])` + "\n", "sprintf makes a string of more than 1 MiB"},
	"widths-index": {`	message := sprintf("%[1]*[1]d%[1]*[1]d", [999999])` + "\n", "sprintf makes a string of more than 1 MiB"},
	"marshal": {`	a0 := [fact, fact, fact]` + "\n" + nested(20, "\ta%d := [a%[2]d, a%[2]d, a%[2]d]\n") + "\tmessage := json.marshal(a20)\n",
		"makes a value with more than 1000000 members"},
	"marshal-text": {`	s := sprintf("%900000s", ["<"])` + "\n" + `	message := json.marshal([s, s])` + "\n", "json.marshal makes a string of more than 1 MiB"},
	"print-value": {`	a0 := [fact, fact, fact]` + "\n" + nested(20, "\ta%d := [a%[2]d, a%[2]d, a%[2]d]\n") + "\tmessage := sprintf(\"%v\", [a20])\n",
		"makes a value with more than 1000000 members"},
	"functions": {"\ta := p5([fact.id])\n\tmessage := json.marshal(a)\n}\n\np0(x) := [x, x]\n\n" + nested(5, "p%d(x) := p%[2]d(p%[2]d(x))\n\n") + "unused(x) if {\n\tx\n",
		"makes a value with more than 1000000 members"},
	"range": {`	message := sprintf("%d", [count(numbers.range(1, 3000000))])` + "\n", "numbers.range makes a value with more than 1000000 members"},
	"ranges": {`	r := numbers.range(1, 1000000)` + "\n" + `	message := sprintf("%d", [count([x | some x in r; some y in r; x + y < 0])])` + "\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"arrays": {`	a0 := numbers.range(1, 10)` + "\n" + nested(20, `	a%d := array.concat(a%[2]d, a%[2]d)`+"\n") + `	message := sprintf("%d", [count(a20)])` + "\n",
		"array.concat makes a value with more than 1000000 members"},
	"union": {`	o := {sprintf("%d", [i]): i | some i in numbers.range(1, 1000)}` + "\n\tall := [o | some _ in numbers.range(1, 600)]\n" +
		`	message := sprintf("%d", [count(object.union_n(all))])` + "\n", "goes through a value with more than 1000000 members"},
	"joins": {"\tsome a in input.workloads\n\tsome b in input.workloads\n\tsome c in input.workloads\n\tsome d in input.workloads\n\tsome e in input.workloads\n" +
		"\ta.id + b.id + c.id + d.id + e.id < 0\n\tmessage := fact.ref\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"equal": {"\ta0 := [fact.id]\n\tb0 := [fact.id]\n" + nested(17, "\ta%d := array.concat([a%[2]d], [a%[2]d])\n") + nested(17, "\tb%d := array.concat([b%[2]d], [b%[2]d])\n") +
		"\ta17 == b17\n\tmessage := fact.ref\n", "compares a value with more than 100000 members"},
	"equal-arrays": {"\tnumbers.range(1, 900000) == numbers.range(1, 900000 + fact.id - fact.id)\n\tmessage := fact.ref\n",
		"compares a value with more than 100000 members"},
	"equal-often": {nested(30, "\tnumbers.range(%[2]d, 90000 + %[2]d) == numbers.range(%[2]d, 90000 + fact.id - fact.id + %[2]d)\n") + "\tmessage := fact.ref\n",
		"compares values with too many members"},
	"number":    {"\tmessage := format_int(1e5000, 10)\n", "uses a number with more than 1000 digits"},
	"unmarshal": {"\tmessage := format_int(json.unmarshal(\"1e5000\"), 10)\n", "uses a number with more than 1000 digits"},
	"square": {"\tn0 := 99 + fact.id\n" + nested(40, "\tn%d := n%[2]d * n%[2]d\n") + "\tmessage := format_int(n40, 10)\n",
		"uses a number with more than 1000 digits"},
	"product": {"\tmessage := format_int(product([1e900, 1e900]), 10)\n", "makes a number with more than 1000 digits"},
	"pattern": {`	message := regex.replace("x", "` + strings.Repeat("(.{900})", 500) + `", "")` + "\n", "uses a regular expression of more than 10000 instructions"},
	"regex": {`	s := sprintf("%900000s", ["a"])` + "\n" + `	regex.match("(x+x+)+y{900}(.{900})", s)` + "\n\tmessage := fact.ref\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"glob": {`	s := sprintf("%900000s", ["a"])` + "\n" + `	glob.match("` + strings.Repeat("*a", 400) + `b", [], s)` + "\n\tmessage := fact.ref\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"walk": {`	a0 := [fact.id]` + "\n" + nested(18, "\ta%d := [a%[2]d, a%[2]d]\n") + "\tmessage := sprintf(\"%d\", [count([x | walk(a18, [_, x]); x == 0])])\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"mock": {`	s0 := "0123456789"` + "\n" + nested(20, `	s%d := upper(s%[2]d) with upper as twice`+"\n") + "\tmessage := s20\n}\n\ntwice(s) := concat(s, [s, s, s, s]) if {\n\ttrue\n",
		"concat makes a string of more than 1 MiB"},
	"reachable": {"\tg := {sprintf(\"%d\", [l]): [sprintf(\"%d\", [l + 1]), sprintf(\"%d\", [l + 1])] | some l in numbers.range(1, 60)}\n" +
		"\tmessage := sprintf(\"%d\", [count(graph.reachable(g, [\"1\"]))])\n", "exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"paths": {"\tg := {v: [n | some n in numbers.range(1, 12)] | some v in numbers.range(1, 12)}\n" +
		"\tmessage := sprintf(\"%d\", [count(graph.reachable_paths(g, [1]))])\n", "graph.reachable_paths makes a value with more than 1000000 members"},
	"aliases":       {"\tmessage := yaml.unmarshal(\"a: &a [x]\\nb: *a\")\n", "reads YAML with aliases (*name), which rules may not; write the values out"},
	"yaml-is-valid": {"\tyaml.is_valid(\"[&a [x], *a]\")\n\tmessage := fact.ref\n", "reads YAML with aliases (*name), which rules may not; write the values out"},
	"yaml-keys": {"\ts := concat(\"\\n\", [sprintf(\"k%d:\", [i]) | some i in numbers.range(1, 20000)])\n\tyaml.is_valid(s)\n\tmessage := fact.ref\n",
		"exceeds the budget of 50000 evaluation steps; let it visit each fact of its own list once"},
	"yaml-depth": {"\ta0 := [sprintf(\"%900s\\n\\n\\n\\n\\n\\n\\n\\n\", [fact.ref])]\n" + nested(300, "\ta%d := [a%[2]d]\n") + "\tl := [a300 | some _ in numbers.range(1, 2000)]\n\tmessage := yaml.marshal(l)\n",
		"yaml.marshal makes a string of more than 1 MiB"},
	"shift":      {"\tmessage := format_int(bits.lsh(1, 1000000000), 10)\n", "makes a number with more than 1000 digits"},
	"range-step": {"\tmessage := sprintf(\"%d\", [count(numbers.range_step(1, 30000000, 2))])\n", "numbers.range_step makes a value with more than 1000000 members"},
	"zone":       {"\tmessage := time.format([0, \"Local\"])\n", "uses the time zone \"Local\", which not every machine knows; use UTC"},
	"zone-name":  {"\tmessage := format_int(time.parse_ns(\"RFC1123\", \"Mon, 02 Jan 2006 15:04:05 CET\"), 10)\n", "parses the name of a time zone, which means different times on different machines; use a numeric offset as in RFC3339"},
	"division":   {"\tmessage := sprintf(\"%d\", [1 / (fact.id - fact.id)])\n", "div: divide by zero"},
	"value":      {"\tmessage := {fact.id}\n", "reports a finding whose message is a set; expected a string"},
}

// slowRules lists rules that take at least a tenth of a second until they fail. With -short, they
// are skipped.
var slowRules = []string{"equal", "equal-arrays", "equal-often", "functions", "joins", "marshal", "pattern", "print-value", "ranges", "reachable", "union", "walk", "yaml-depth", "yaml-keys"}

// fewSteps is a small step budget that keeps the tests short.
const fewSteps = maxSteps / 100

// tallied evaluates rules and returns the tally with their steps and failures.
func tallied(t testing.TB, e *Engine, f *facts.Facts) ([]facts.Judgement, *facts.Tally) {
	t.Helper()
	tally := facts.NewTally()
	found, err := e.Evaluate(context.Background(), f, tally)
	if err != nil {
		t.Fatal(err)
	}
	return found, tally
}

// twelve returns facts that the hostile rules read, and that built-in rules report.
func twelve() *facts.Facts {
	f := bad(12)
	describe(f, 12)
	return f
}

// TestHostileRules evaluates each hostile rule together with the built-in rules. It must fail with
// the expected reason, at the same step every time, without affecting other rules.
func TestHostileRules(t *testing.T) {
	want, _ := tallied(t, loaded(t, Options{}), twelve())
	if len(want) == 0 {
		t.Fatal("the built-in rules find nothing")
	}
	ids := slices.Sorted(maps.Keys(hostileRules))
	if !trials.Full(t) { // most of the cost of all; others meet the same limits
		ids = slices.DeleteFunc(ids, func(id string) bool {
			return strings.HasPrefix(id, "equal-") || id == "ranges" || id == "union" || id == "reachable"
		})
	}
	if trials.Few(t) {
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(slowRules, id) })[:8]
	}
	for _, id := range ids {
		c := hostileRules[id]
		t.Run(id, func(t *testing.T) {
			dir := folder(t, map[string]string{id + "/rule.rego": hostileRule(id, c.body)})
			e := loaded(t, Options{Dirs: []string{dir}})
			if strings.Contains(c.want, "budget") {
				e.steps = fewSteps
			}
			got, tally := tallied(t, e, twelve())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("other findings than without the rule:\n%s", diff)
			}
			if len(tally.Failures) != 1 {
				t.Fatalf("%d failures, want one: %v", len(tally.Failures), tally.Failures)
			}
			f := tally.Failures[0]
			if f.Rule != id || f.File != dir+"/"+id+"/rule.rego" || f.Internal || !strings.HasSuffix(f.Message, c.want) {
				t.Errorf("failure %+v, want %q", f, c.want)
			}
			if _, again := tallied(t, e, twelve()); tally.Steps[id] != again.Steps[id] || !cmp.Equal(tally.Failures, again.Failures) {
				t.Errorf("%d steps and %v, then %d steps and %v", tally.Steps[id], tally.Failures, again.Steps[id], again.Failures)
			}
		})
	}
}

// BenchmarkHostileRules checks that rules with growing values allocate at most 64 MiB.
func BenchmarkHostileRules(b *testing.B) {
	for _, id := range []string{"concat", "replace", "regex-replace", "template", "widths", "marshal", "range", "product", "square", "number"} {
		b.Run(id, func(b *testing.B) {
			e := loaded(b, Options{Dirs: []string{folder(b, map[string]string{"x.rego": hostileRule(id, hostileRules[id].body)})}})
			b.ReportAllocs()
			for b.Loop() {
				trials.Bound(b, "MiB allocated", float64(allocated(func() { tallied(b, e, twelve()) }))/(1<<20), 64)
			}
		})
	}
}

// allocated returns the number of bytes that the process allocates during a call.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestOneRuleFailsAlone checks that hostile rules do not affect a correct rule.
func TestOneRuleFailsAlone(t *testing.T) {
	files := map[string]string{"good/rule.rego": head + body}
	for _, id := range []string{"concat", "marshal", "range", "division", "value"} {
		files[id+"/rule.rego"] = hostileRule(id, hostileRules[id].body)
	}
	e := loaded(t, Options{Dirs: []string{folder(t, files)}})
	f := twelve()
	f.Workloads[3].Namespace = "default"
	found, tally := tallied(t, e, f)
	var failed []string
	for _, f := range tally.Failures {
		failed = append(failed, f.Rule)
	}
	slices.Sort(failed)
	if got := strings.Join(failed, " "); got != "concat division marshal range value" {
		t.Errorf("failed: %s", got)
	}
	if !slices.ContainsFunc(found, func(j facts.Judgement) bool { return j.Rule == "no-default-namespace" && j.Fact == f.Workloads[3].ID }) {
		t.Error("the rule that is in order is lost")
	}
}

// TestBudgetIsThatOfTheRun checks that all contexts of a run share one budget, and that every run
// has its own.
func TestBudgetIsThatOfTheRun(t *testing.T) {
	const steps = 10 * fewSteps
	const quadratic = "\tsome other in input.workloads\n\tother.id + fact.id < 0\n\tmessage := fact.ref\n"
	dir := folder(t, map[string]string{"x.rego": hostileRule("quadratic", quadratic)})
	e := loaded(t, Options{Dirs: []string{dir}})
	e.steps = steps
	f, tally := healthy(80), facts.NewTally()
	contexts := 0
	for ; tally.Failures.Complete() && contexts < 20; contexts++ {
		if _, err := e.Evaluate(context.Background(), f, tally); err != nil {
			t.Fatal(err)
		}
	}
	if contexts < 3 || contexts == 20 || tally.Steps["quadratic"] <= steps {
		t.Errorf("the budget is over after %d contexts and %d steps", contexts, tally.Steps["quadratic"])
	}
	if _, again := tallied(t, e, f); !again.Failures.Complete() {
		t.Errorf("a new run begins with failures: %v", again.Failures)
	}
}

// TestFindingsOfARule checks that the first findings are kept if a rule has too many in all
// contexts. The findings are made up, because a custom rule would run out of steps before.
func TestFindingsOfARule(t *testing.T) {
	report := make([]facts.Judgement, 40_000)
	for i := range report {
		report[len(report)-1-i] = facts.Judgement{Rule: "many", Fact: i, Message: "x"}
	}
	e := &evaluation{tally: facts.NewTally()}
	for context, want := range []int{40_000, 40_000, 20_000} {
		kept, err := e.limitFindings(&rule{id: "many", code: &code{}}, slices.Clone(report))
		if len(kept) != want || (err != nil) != (want < len(report)) {
			t.Fatalf("context %d: %d findings and %v, want %d", context, len(kept), err, want)
		}
		if err == nil {
			continue
		}
		if last := kept[len(kept)-1].Fact; last != want-1 {
			t.Errorf("the last finding is about fact %d, want the first ones", last)
		}
		f := failure(&rule{id: "many", code: &code{}}, err)
		if f.Message != "reports more than 100000 findings; the others are left out" || f.Internal {
			t.Errorf("failure %+v", f)
		}
	}
}

// TestMessagesAreCut checks that messages are cut between characters and include the number of
// missing bytes.
func TestMessagesAreCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", maxMessage), strings.Repeat("a", 1<<20), strings.Repeat("猫", 5000), "a" + strings.Repeat("😀", 5000), strings.Repeat("\x80", 9000)} {
		got := shortened(text)
		cut, mark, found := strings.Cut(got, " ... (")
		if found != (len(text) > maxMessage) || !strings.HasPrefix(text, cut) || len(cut) > maxMessage || len(cut) < maxMessage-utf8.UTFMax {
			t.Errorf("%d bytes are cut to %d: ...%s", len(text), len(cut), mark)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%d bytes are cut within a character", len(text))
		}
		if want := fmt.Sprintf("%d bytes more)", len(text)-len(cut)); found && mark != want {
			t.Errorf("the mark is %s, want %s", mark, want)
		}
	}
	dir := folder(t, map[string]string{"x.rego": hostileRule("long", "\tmessage := sprintf(\"%100000s\", [\"a\"])\n")})
	found, tally := tallied(t, loaded(t, Options{Dirs: []string{dir}}), healthy(1))
	if len(found) != 1 || len(found[0].Message) > maxMessage+64 || !tally.Failures.Complete() {
		t.Errorf("%d findings, failures %v", len(found), tally.Failures)
	}
}

// endless starts an evaluation that takes a step every millisecond until it is stopped.
func endless(m *meter) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		defer func() { done <- outcome{err: recovered(m, recover())} }()
		for {
			time.Sleep(time.Millisecond)
			m.TraceEvent(topdown.Event{})
		}
	}()
	return done
}

// TestRunawayRule checks that a rule is stopped at its next step when its time is up.
func TestRunawayRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m := newMeter(0, maxSteps)
		o := watch(ctx, endless(m), m, cancel)
		if o.abandoned || o.err == nil || o.err.Error() != tooLong {
			t.Errorf("got %+v, want a rule that ran too long", o)
		}
		if m.spent < 999 || m.spent > 1001 {
			t.Errorf("stopped after %d steps, want 1000, one a millisecond", m.spent)
		}
	})
	o := isolatedIn(t, ended(t), "joins")
	if o.abandoned || o.err == nil || failure(&rule{code: &code{}}, o.err).Message != tooLong {
		t.Errorf("got %+v, want a rule that ran too long", o)
	}
}

// ended returns a canceled context.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// isolatedIn evaluates only a hostile rule.
func isolatedIn(t *testing.T, ctx context.Context, id string) outcome {
	t.Helper()
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": hostileRule(id, hostileRules[id].body)})}})
	f, tally := healthy(12), facts.NewTally()
	due, read := e.due(f, tally)
	if err := e.compile(due); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(due, func(r *rule) bool { return r.id == id })
	run := evaluation{Engine: e, facts: f, rows: f.Rows(), input: convert(f, &read), tally: tally}
	return run.isolated(ctx, due[i], newMeter(0, maxSteps))
}

// TestNoTimeLeft checks that no rule starts after earlier contexts have used up the time.
func TestNoTimeLeft(t *testing.T) {
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": strings.Replace(head, "no-default-namespace", "late", 1) + body})}})
	tally := facts.NewTally()
	tally.Took = DefaultDeadline
	if _, err := e.Evaluate(t.Context(), healthy(1), tally); err != nil {
		t.Fatal(err)
	}
	if len(tally.Failures) != 1 || !strings.HasSuffix(tally.Failures[0].String(), "rule late: was not evaluated: the rules before it took all the time") {
		t.Errorf("failures %v", tally.Failures)
	}
}

// TestEndlessStep checks that a rule that does not stop is abandoned, and that no other custom
// rule is evaluated afterwards.
func TestEndlessStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := watch(ended(t), make(chan outcome), newMeter(0, maxSteps), func() {})
		if !o.abandoned || o.err == nil || o.err.Error() != tooLong {
			t.Errorf("got %+v, want a rule that is given up", o)
		}
	})
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": head + body})}})
	e.endless.Store(true)
	found, tally := tallied(t, e, twelve())
	if len(found) == 0 || len(tally.Failures) != 1 || tally.Failures[0].Message != "was not evaluated: another rule does not stop" {
		t.Errorf("%d findings, failures %v", len(found), tally.Failures)
	}
}

// TestHeapIsWatched checks that a rule is stopped when the heap grows by more than the limit.
func TestHeapIsWatched(t *testing.T) {
	const before = 100 << 20
	for grown, want := range map[uint64]string{maxHeap: tooLong, maxHeap + 1: "takes too much memory"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			m, looks := newMeter(0, maxSteps), 0
			m.heap = func() uint64 {
				if looks++; looks <= 3 {
					return before
				}
				return before + grown
			}
			canceled := false
			o := watch(ctx, endless(m), m, func() { canceled = true })
			if o.err == nil || o.err.Error() != want || canceled != (grown > maxHeap) {
				t.Errorf("%d bytes more: got %v, canceled %t, want %s", grown, o.err, canceled, want)
			}
		})
	}
}

// BenchmarkHeapIsWatched stops a rule whose values take few steps but much memory.
func BenchmarkHeapIsWatched(b *testing.B) {
	var wide strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&wide, `"%d":i,`, i)
	}
	dir := folder(b, map[string]string{"x.rego": hostileRule("wide", "\tall := [{"+strings.TrimSuffix(wide.String(), ",")+"} | some i in numbers.range(1, 500000)]\n\tmessage := sprintf(\"%d\", [count(all)])\n")})
	e := loaded(b, Options{Dirs: []string{dir}})
	for b.Loop() {
		found, tally := tallied(b, e, healthy(1))
		if len(found) != 0 || len(tally.Failures) != 1 || tally.Failures[0].Message != "takes too much memory" {
			b.Errorf("%d findings, failures %v", len(found), tally.Failures)
		}
	}
}

// TestEveryFunctionIsBounded checks that the cost table has exactly the functions that rules may
// call, and that every call in a rule is guarded.
func TestEveryFunctionIsBounded(t *testing.T) {
	unguarded := []string{"assign", "eq", "rego.metadata.chain", "rego.metadata.rule"}
	decl := map[string]*ast.Builtin{}
	for _, b := range capabilities().Builtins {
		decl[b.Name] = b
	}
	for _, name := range allowed() {
		b, ok := bounds()[name]
		if ok == slices.Contains(unguarded, name) {
			t.Errorf("%s: guarded is %v", name, ok)
		}
		if ok && (b.arity != decl[name].Decl.Arity() || topdown.GetBuiltin(name) == nil) {
			t.Errorf("%s has %d arguments, the table says %d", name, decl[name].Decl.Arity(), b.arity)
		}
	}
	for name := range bounds() {
		if !slices.Contains(allowed(), name) {
			t.Errorf("%s has bounds, and no rule may call it", name)
		}
	}
}

// TestGuardsChangeNothing checks that the built-in rules have the same findings when they run as
// custom rules.
func TestGuardsChangeNothing(t *testing.T) {
	own, trusted := loadedFrom(t, Options{Dirs: []string{"../rules"}}), loaded(t, Options{Packs: loaded(t, Options{}).Packs()})
	for _, f := range []*facts.Facts{bad(20), healthy(20), twelve()} {
		want, _ := tallied(t, trusted, f)
		got, tally := tallied(t, own, f)
		if diff := cmp.Diff(want, got); diff != "" || !tally.Failures.Complete() {
			t.Errorf("%v\n%s", tally.Failures, diff)
		}
	}
}
