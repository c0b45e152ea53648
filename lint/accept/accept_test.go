package accept

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

func TestReason(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                            {"", ""},
		"  a  reason\tof ours ":       {"a reason of ours", ""},
		"until=2027-03-31":            {"", "2027-03-31"},
		"a until=2027-03-31 reason":   {"a reason", "2027-03-31"},
		"until=":                      {"", "?"},
		"a until=b until=2027-03-31":  {"a until=2027-03-31", "b"},
		"a run-until=2027-03-31 case": {"a run-until=2027-03-31 case", ""},
	} {
		if reason, until := Reason(text); reason != want[0] || until != want[1] {
			t.Errorf("%q: %q, %q", text, reason, until)
		}
	}
}

func finding(rule, name string, line int) Finding {
	return Finding{Diagnostic: diag.Diagnostic{
		Rule: rule, Level: diag.LevelError, Message: "m", Object: diag.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
		Location: diag.Span{File: "f", Line: line},
	}}
}

func suppression(rule, reason, until, name string) Suppression {
	return Suppression{
		Suppression: diag.Suppression{Acceptance: diag.Acceptance{By: diag.ByComment, Reason: reason, Until: until}, Rule: rule, Target: name},
		Meets:       func(f *Finding) bool { return f.Object.Name == name },
	}
}

// TestSuppress has one case for every state of a suppression.
func TestSuppress(t *testing.T) {
	o := Options{Today: "2026-11-21", Rules: []string{"a", "b", "long-name"}}
	used := suppression("a", "why", "", "web")
	decided := func(s Suppression) Suppression { s.Decided = 1; return s }
	open := func(s Suppression) Suppression { s.Decided, s.Open = 1, true; return s }
	for name, c := range map[string]struct {
		s          []Suppression
		accepted   int
		complaints string
	}{
		"used":             {[]Suppression{used}, 1, ""},
		"twice":            {[]Suppression{used, decided(used)}, 1, ""},
		"last day":         {[]Suppression{suppression("a", "why", "2026-11-21", "web")}, 1, ""},
		"a day later":      {[]Suppression{suppression("a", "why", "2026-11-20", "web")}, 0, "expired"},
		"no day":           {[]Suppression{suppression("a", "why", "2026-13-01", "web")}, 0, "expired"},
		"no reason":        {[]Suppression{suppression("a", "", "2099-01-01", "web")}, 0, "without-reason"},
		"no rule":          {[]Suppression{suppression("long-nmae", "", "", "web")}, 0, "names-no-rule long-name"},
		"another rule":     {[]Suppression{decided(suppression("b", "why", "", "web"))}, 0, "unused"},
		"another object":   {[]Suppression{decided(suppression("a", "why", "", "api"))}, 0, "unused"},
		"not decided":      {[]Suppression{suppression("b", "why", "", "web")}, 0, ""},
		"decided in part":  {[]Suppression{open(suppression("b", "why", "", "web"))}, 0, ""},
		"expired and used": {[]Suppression{suppression("a", "why", "2026-01-01", "web"), used}, 1, "expired"},
	} {
		kept, accepted, complaints := Suppress([]Finding{finding("a", "web", 1)}, c.s, o)
		var words []string
		for _, c := range complaints {
			words = append(words, strings.TrimSpace(string(c.Problem)+" "+c.Near))
		}
		if len(accepted) != c.accepted || len(kept)+len(accepted) != 1 || strings.Join(words, ", ") != c.complaints {
			t.Errorf("%s: %d accepted, %d kept, %q", name, len(accepted), len(kept), words)
		}
		for _, f := range accepted {
			if f.Accepted == nil || f.Accepted.Reason != "why" {
				t.Errorf("%s: accepted for %+v", name, f.Accepted)
			}
		}
	}
}

// random returns findings of few kinds, so that keys repeat.
func random(r *rand.Rand) []Finding {
	var all []Finding
	for i := range r.IntN(12) {
		f := finding(string('a'+rune(r.IntN(3))), string('x'+rune(r.IntN(2))), i)
		f.Level = []diag.Level{diag.LevelError, diag.LevelWarning, diag.LevelNote}[r.IntN(3)]
		f.Pending, f.Field = r.IntN(3), string('p'+rune(r.IntN(2)))
		all = append(all, f)
	}
	return all
}

// TestBaselineProperties applies a baseline of random findings to the same findings and to randomly
// changed ones. It checks that equal and fewer findings are accepted, and that more findings are
// not.
func TestBaselineProperties(t *testing.T) {
	for seed := range uint64(trials.AtLeast(t, 3000, 500)) {
		r := rand.New(rand.NewPCG(seed, 1))
		findings := random(r)
		b := roundTrip(t, NewBaseline("why", "", unwrap(findings)))
		if kept, accepted, healed, _ := b.Apply(findings, "2026-11-21"); len(kept) > 0 || len(accepted) != len(findings) || len(healed) != 0 {
			t.Fatalf("seed %d: %d kept, %d accepted, %d healed", seed, len(kept), len(accepted), len(healed))
		}
		if len(findings) == 0 {
			continue
		}
		at := r.IntN(len(findings))
		moved := slices.Clone(findings)
		moved[at].Location, moved[at].Message = diag.Span{File: "g", Line: 9}, "other"
		moved[at].Object.APIVersion = "apps/v2"
		r.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
		if kept, _, _, _ := b.Apply(moved, "2026-11-21"); len(kept) > 0 {
			t.Errorf("seed %d: %v is kept although it has only moved", seed, kept)
		}
		if kept, _, _, _ := b.Apply(slices.Delete(slices.Clone(findings), at, at+1), "2026-11-21"); len(kept) > 0 {
			t.Errorf("seed %d: %v is kept although one is gone", seed, kept)
		}
		for name, worse := range map[string]func(f *Finding){
			"count":   nil,
			"pending": func(f *Finding) { f.Pending++ },
			"rule":    func(f *Finding) { f.Rule = "other" },
			"object":  func(f *Finding) { f.Object.Namespace = "other" },
			"group":   func(f *Finding) { f.Object.APIVersion = "other/v1" },
			"field":   func(f *Finding) { f.Field = "other" },
			"cluster": func(f *Finding) { f.Cluster = "other" },
		} {
			now := slices.Clone(findings)
			if worse == nil {
				now = append(now, now[at])
			} else {
				worse(&now[at])
			}
			kept, _, _, _ := b.Apply(now, "2026-11-21")
			if len(kept) == 0 {
				t.Errorf("seed %d: nothing is kept although there is more: %s", seed, name)
			}
			if name == "rule" && len(kept) != 1 {
				t.Errorf("seed %d: %d findings are kept, one is new", seed, len(kept))
			}
		}
	}
}

// roundTrip writes a baseline and reads it again.
func roundTrip(t *testing.T, b *Baseline) *Baseline {
	t.Helper()
	text := encoded(t, b)
	again, err := ReadBaseline("b.json", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(b.Entries, again.Entries); diff != "" {
		t.Fatal(diff)
	}
	return again
}

// TestSince compares random findings with a changed copy. It checks that removed findings are
// fixed, that added findings are new, and that the numbers add up.
func TestSince(t *testing.T) {
	read := func(*diag.Diagnostic) bool { return false }
	for seed := range uint64(trials.AtLeast(t, 2000, 500)) {
		r := rand.New(rand.NewPCG(seed, 2))
		before, now := unwrap(random(r)), unwrap(random(r))
		if d := Since(before, before, nil, read); len(d.Introduced)+len(d.Fixed)+len(d.Undecided) > 0 || len(d.Unchanged) != len(before) {
			t.Fatalf("seed %d: a tree differs from itself: %+v", seed, d)
		}
		if d := Since(before, nil, before, read); len(d.Fixed) > 0 {
			t.Fatalf("seed %d: what is accepted counts as fixed: %+v", seed, d)
		}
		d := Since(before, now, nil, read)
		if len(d.Introduced)+len(d.Unchanged) != len(now) {
			t.Fatalf("seed %d: %d findings are parted into %d and %d", seed, len(now), len(d.Introduced), len(d.Unchanged))
		}
		if len(now) == 0 && len(d.Fixed) != len(before) {
			t.Fatalf("seed %d: %d of %d are fixed", seed, len(d.Fixed), len(before))
		}
		if d := Since(nil, now, nil, read); len(d.Introduced) != len(now) {
			t.Fatalf("seed %d: not everything is new", seed)
		}
		if d := Since(before, nil, nil, func(*diag.Diagnostic) bool { return true }); len(d.Fixed) > 0 || len(d.Undecided) != len(before) {
			t.Fatalf("seed %d: what is not read counts as fixed", seed)
		}
	}
}

// TestSinceUndecided removes nodes, so that pods are Pending. This does not fix the finding about
// their rollout.
func TestSinceUndecided(t *testing.T) {
	rollout, pending, other := finding("rollout-deadlock", "web", 1), finding("anti-affinity-exceeds-domains", "web", 1), finding("rollout-deadlock", "api", 1)
	pending.Pending = 1
	d := Since(unwrap([]Finding{rollout, other}), unwrap([]Finding{pending}), nil, func(*diag.Diagnostic) bool { return false })
	if len(d.Introduced) != 1 || len(d.Fixed) != 1 || d.Fixed[0].Object.Name != "api" || len(d.Undecided) != 1 {
		t.Errorf("found %+v", d)
	}
}

func TestBrought(t *testing.T) {
	s := func(by, rule, target, until, reason string) diag.Suppression {
		return diag.Suppression{Acceptance: diag.Acceptance{By: by, Reason: reason, Until: until, Location: diag.Span{Line: len(reason)}}, Rule: rule, Target: target}
	}
	before := []diag.Suppression{s("comment", "a", "web", "", "x"), s("comment", "a", "web", "", "y"), s("comment", "b", "web", "2026-12-31", "x")}
	for name, c := range map[string]struct {
		now  []diag.Suppression
		want int
	}{
		"the same, said otherwise": {[]diag.Suppression{s("comment", "a", "web", "", "in other words")}, 0},
		"one more":                 {append(slices.Clone(before), s("comment", "a", "web", "", "z")), 1},
		"another rule":             {[]diag.Suppression{s("comment", "c", "web", "", "x")}, 1},
		"another object":           {[]diag.Suppression{s("comment", "a", "api", "", "x")}, 1},
		"for longer":               {[]diag.Suppression{s("comment", "b", "web", "2027-12-31", "x")}, 1},
		"in another way":           {[]diag.Suppression{s("annotation", "a", "web", "", "x")}, 1},
		"none":                     {nil, 0},
	} {
		if got := NewSuppressions(before, c.now); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOutlives(t *testing.T) {
	for days, want := range map[[2]string]bool{
		{"", ""}: false, {"", "2026-01-01"}: true, {"2026-01-01", ""}: false,
		{"2026-01-02", "2026-01-01"}: true, {"2026-01-01", "2026-01-01"}: false, {"2025-12-31", "2026-01-01"}: false,
	} {
		if got := NewBaseline("why", days[0], nil).Outlives(NewBaseline("why", days[1], nil)); got != want {
			t.Errorf("%q: %t", days, got)
		}
	}
	if NewBaseline("why", "", nil).Outlives(nil) {
		t.Error("one outlives none")
	}
}

// TestBaselineMistakes has one baseline for every possible error.
func TestBaselineMistakes(t *testing.T) {
	with := func(entries string) string {
		return "{\"apiVersion\":\"schedlint.dev/v1alpha1\",\"kind\":\"Baseline\",\n\"reason\":\"r\",\n\"entries\":[" + entries + "]}"
	}
	const entry = `{"rule":"a","level":"error","count":1}`
	if _, err := ReadBaseline("b", []byte(with(entry))); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                        "b:1: the baseline ends too early",
		"[]":                      "b:1: the file: expected no array here",
		"{\n\"entries\": 1}":      "b:2: entries: expected no number here",
		"{\n\n\"a\": 1}":          `b:3: unknown field "a"`,
		"{\n,":                    "b:2: invalid character ',' looking for beginning of object key string",
		"{}":                      `b: expected apiVersion schedlint.dev/v1alpha1 and kind Baseline, found "" and ""`,
		with(entry) + "{}":        "b:3: expected nothing behind the baseline",
		with(entry + "," + entry): "b: entries[1]: the same as an entry before it",
		with(`{"rule":"a"}`):      `b: entries[0].level: expected error, warning or note, found ""`,
		with(`{"level":"error"}`): "b: entries[0]: expected a rule",
		with(`{"rule":"a","level":"error","count":0}`):                                                              "b: entries[0]: expected a count of at least 1, and no negative number",
		with(`{"rule":"a","level":"error","count":1,"pending":-1}`):                                                 "b: entries[0]: expected a count of at least 1, and no negative number",
		with(`{"rule":"a","level":"error","count":1,"line":1}`):                                                     `b:3: unknown field "line"`,
		`{"apiVersion":"schedlint.dev/v1alpha1","kind":"Baseline","entries":[]}`:                                    "b: reason: expected why these findings are accepted",
		`{"apiVersion":"schedlint.dev/v1alpha1","kind":"Baseline","reason":" ","entries":[]}`:                       "b: reason: expected why these findings are accepted",
		`{"apiVersion":"schedlint.dev/v1alpha1","kind":"Baseline","reason":"r","until":"tomorrow","entries":[]}`:    `b: until: expected a day as in 2027-03-31, found "tomorrow"`,
		`{"apiVersion":"schedlint.dev/v1alpha1","kind":"Baseline","reason":"r","until":"2026-01-01","entries":[1]}`: "b:1: entries: expected no number here",
	} {
		if _, err := ReadBaseline("b", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestBaselineExpires checks that all findings count again on the day after the last one.
func TestBaselineExpires(t *testing.T) {
	findings := []Finding{finding("a", "web", 1)}
	b := NewBaseline("why", "2026-11-21", unwrap(findings))
	if kept, _, _, complaints := b.Apply(findings, "2026-11-21"); len(kept) > 0 || len(complaints) > 0 {
		t.Errorf("on its last day: %v, %v", kept, complaints)
	}
	kept, _, healed, complaints := b.Apply(findings, "2026-11-22")
	if len(kept) != 1 || len(healed) != 0 || len(complaints) != 1 || complaints[0].Problem != Expired || complaints[0].By != diag.ByBaseline {
		t.Errorf("on the day after: %v, %v, %v", kept, healed, complaints)
	}
	var none *Baseline
	if kept, _, _, _ := none.Apply(findings, "2026-11-22"); len(kept) != 1 {
		t.Error("no baseline accepts something")
	}
}

func TestRaised(t *testing.T) {
	low, high := finding("a", "web", 1), finding("a", "web", 1)
	high.Pending = 2
	before, now := NewBaseline("r", "", unwrap([]Finding{low, finding("b", "web", 1)})), NewBaseline("r", "", unwrap([]Finding{high, finding("c", "web", 1)}))
	var rules []string
	for _, e := range now.NewlyAccepted(before) {
		rules = append(rules, e.Rule)
	}
	if got := strings.Join(rules, " "); got != "a c" {
		t.Errorf("raised: %s", got)
	}
	if got := before.NewlyAccepted(nil); len(got) != 2 {
		t.Errorf("all are new: %v", got)
	}
}

// baselineText is a baseline of one entry.
var baselineText = fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Baseline","reason":"r","until":"2026-01-01","entries":[{"rule":"a","level":"note","count":1}]}`, APIVersion)

func FuzzBaseline(f *testing.F) {
	f.Add(baselineText)
	f.Fuzz(fuzzBaseline)
}

func fuzzBaseline(t *testing.T, text []byte) {
	b, err := ReadBaseline("b", text)
	if err != nil {
		return
	}
	roundTrip(t, b)
}

// TestTexts runs the target on random text, like the test in lint/source.
func TestTexts(t *testing.T) {
	n, seed, err := mutate.Runs(300)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for range n {
		text := mutate.Text(r, [][]byte{baselineText})
		if fuzzBaseline(t, text); t.Failed() {
			t.Fatalf("%q", text)
		}
	}
}

func encoded(t *testing.T, b *Baseline) []byte {
	t.Helper()
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBranches checks that alternatives are compared branch by branch, unless one of the two
// states has none for the object.
func TestBranches(t *testing.T) {
	in := func(branches ...string) (all []diag.Diagnostic) {
		for i, b := range branches {
			all = append(all, diag.Diagnostic{
				Rule: "r", Level: diag.LevelError, Branch: b, Object: diag.Object{Kind: "Deployment", Name: "web"}, Location: diag.Span{File: b, Line: i + 1},
			})
		}
		return all
	}
	for name, c := range map[string]struct {
		before, now       []string
		introduced, fixed int
	}{
		"the same":                           {[]string{"prod"}, []string{"prod"}, 0, 0},
		"fixed in one, new in the other":     {[]string{"staging"}, []string{"prod"}, 1, 1},
		"a second environment with it":       {[]string{""}, []string{"prod", "staging"}, 1, 0},
		"a second environment without it":    {[]string{""}, []string{"prod"}, 0, 0},
		"only one environment is left":       {[]string{"prod", "staging"}, []string{""}, 0, 1},
		"new in a third of two environments": {[]string{"prod", "staging"}, []string{"prod", "staging", "test"}, 1, 0},
	} {
		d := Since(in(c.before...), in(c.now...), nil, nil)
		if len(d.Introduced) != c.introduced || len(d.Fixed) != c.fixed {
			t.Errorf("%s: %d new and %d fixed, want %d and %d", name, len(d.Introduced), len(d.Fixed), c.introduced, c.fixed)
		}
		b := NewBaseline("there before", "", in(c.before...))
		kept, _, _, _ := b.Apply(wrap(in(c.now...)), "2026-11-21")
		if len(kept) != c.introduced {
			t.Errorf("%s: %d beyond the baseline, want %d", name, len(kept), c.introduced)
		}
	}
}
