package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestNamed checks that three clusters or renders are named, and two of more.
func TestNamed(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for n, want := range []string{"", "cluster a", "clusters a, b", "clusters a, b, c", "clusters a, b and 2 more", "clusters a, b and 3 more"} {
		if got := named("cluster", names[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestHappens checks what simulated runs say about a finding.
func TestHappens(t *testing.T) {
	for want, typical := range map[string]*diag.Typical{
		"":                                    nil,
		"happens in none of 8 simulated runs": {Runs: 8},
		"happens in at most 3 of 8 simulated runs": {Runs: 8, Shown: 3},
		"happens in at most 3 of 8 simulated runs, which leave out 1 workload; 2 stop where a pod can preempt others": {Runs: 8, Shown: 3, Without: 1, Preempts: 2},
	} {
		if got := happens(typical, "at most "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestContextTitle checks that three of the directories that may share a cluster are named.
func TestContextTitle(t *testing.T) {
	const together = "all directories together, if these share a cluster: "
	for want, p := range map[string]diag.Placement{
		"context of all other manifests": {},
		"cluster prod":                   {Cluster: "prod"},
		"cluster prod, context apps":     {Cluster: "prod", Context: "apps"},
		together + "a, b, c":             {IfShared: []string{"a", "b", "c"}},
		together + "a, b, c and 1 more":  {IfShared: []string{"a", "b", "c", "d"}},
	} {
		if got := contextTitle(&p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWithoutEmpty checks that empty arrays are removed, but not text that looks like one.
func TestWithoutEmpty(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[]}`:               `{}`,
		`{"a":[],"b":1}`:         `{"b":1}`,
		`{"b":1,"a":[]}`:         `{"b":1}`,
		`{"b":1,"a":[],"c":[2]}`: `{"b":1,"c":[2]}`,
		`{"m":"\"a\":[] \":[] and \"b\":[]","c":[]}`: `{"m":"\"a\":[] \":[] and \"b\":[]"}`,
	} {
		if got := string(withoutEmpty([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestRulesOfFindings checks that a finding whose rule is not enabled brings the rule with it, once.
func TestRulesOfFindings(t *testing.T) {
	var all []candidate
	for _, id := range []string{"z", "m", "a", "z"} {
		all = append(all, candidate{Diagnostic: &diag.Diagnostic{Rule: id}})
	}
	var got []string
	for _, r := range allRules(&diag.Report{Rules: []diag.Rule{{ID: "m"}}}, all) {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, []string{"m", "a", "z"}) {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
}

// TestNodeTable checks the labels and the answers of nodes in an explanation.
func TestNodeTable(t *testing.T) {
	run := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("w%d", i))
		}
		return all
	}
	long := strings.Repeat("n", maxNodeColumn+1)
	x := &diag.Explanation{Found: []diag.Explained{{Account: diag.Account{Tables: []diag.NodeTable{{Caption: "next pod", Rows: []diag.NodeRow{
		{Outcome: "rejected", Runs: [][]string{run(minRun - 1)}, Filters: []string{"NodeName", "TaintToleration"}, Why: "first"},
		{Outcome: "rejected", Runs: [][]string{run(minRun)}, Filters: []string{"TaintToleration"}, Why: "second"},
		{Outcome: diag.RowUnknown, Pool: "up to 2 more of pool web", Filters: []string{"NodeName"}, Why: "third"},
		{Outcome: "free", Runs: [][]string{{long}}, Why: "fourth"},
	}}}}}}}
	var out bytes.Buffer
	if err := WriteExplanation(&out, x); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  w0, w1, w2, w3, w4, w5    NodeName         first\n", "\n  w0 ... w6 (7 nodes)       TaintToleration  second\n",
		"\n  up to 2 more of pool web  ?                third\n", "\n  " + long + "\n                            -                fourth\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestManyNotes checks that a run in SARIF has a thousand notes at most, and counts the others.
func TestManyNotes(t *testing.T) {
	for n, want := range map[int]string{maxNotifications: "note 999", maxNotifications + 1: "and 1 more note"} {
		r := &diag.Report{}
		for i := range n {
			r.Summary.Notes = append(r.Summary.Notes, fmt.Sprintf("note %d", i))
		}
		all := readSARIF(t, written(t, "sarif", r, Options{})).Runs[0].Invocations[0].ToolExecutionNotifications
		last := all[len(all)-1].Message.Text
		if len(all) != n || !strings.HasPrefix(last, want) {
			t.Errorf("%d notes: %d notifications, the last is %q", n, len(all), last)
		}
	}
}

// TestManySilences checks that the annotation about silences shows as many as fit, and counts the others.
func TestManySilences(t *testing.T) {
	for n, more := range map[int]string{maxItems: "", maxItems + 1: "and 1 more"} {
		r := &diag.Report{Change: &diag.Change{Since: "main"}}
		for i := range n {
			r.Change.Silences = append(r.Change.Silences, diag.Silence{Message: fmt.Sprintf("silence %d", i)})
		}
		notice, _, _ := strings.Cut(string(written(t, "github", r, Options{})), "\n")
		if got := strings.Count(notice, "silence "); got != maxItems || strings.Contains(notice, " more") != (more != "") || !strings.HasSuffix(notice, more) {
			t.Errorf("%d silences: %s", n, notice)
		}
	}
}

// TestLinksInSARIF checks that no related text ends a link early or leaves it open.
func TestLinksInSARIF(t *testing.T) {
	for text, want := range map[string]string{
		"web":    `[web](1)`,
		"a]b":    `[a\]b](1)`,
		`C:\web`: `[C:\\web](1)`,
		`C:\`:    `[C:\\ ](1)`, // a viewer might take the bracket for an escaped one
		"":       `[web.yaml:3](1)`,
	} {
		_, links := (&sarifWriter{src: newSources(&diag.Report{})}).related(&diag.Diagnostic{Related: []diag.Related{{Message: text, Location: at("web.yaml", 3, 1, 3, 2)}}})
		if len(links) != 1 || links[0] != want {
			t.Errorf("%q: %q, want %q", text, links, want)
		}
	}
}
