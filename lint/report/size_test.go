package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// crowd returns a report for about 200 KB of manifests with n workloads that keep each other
// apart. Each workload has a finding that refers to all others.
func crowd(n int) *diag.Report {
	var manifests strings.Builder
	r := &diag.Report{Rules: []diag.Rule{{ID: "crowded-out", Title: "Crowded out", Description: "Others are in the way.", Level: diag.LevelError, Category: "infeasible"}}}
	places := make([]diag.Related, n)
	for i := range n {
		fmt.Fprintf(&manifests, "---\nkind: Deployment\nmetadata: {name: workload-%d}\nspec:\n  replicas: 3\n  template: {spec: {affinity: {podAntiAffinity: "+
			"{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}}}\n", i)
		places[i] = diag.Related{
			Message:  fmt.Sprintf("Deployment workload-%d keeps others away by its required anti-affinity on kubernetes.io/hostname", i),
			Location: at("all.yaml", 6*i+6, 3, 6*i+6, 40),
		}
	}
	text := []byte(manifests.String())
	r.Source = func(string) []byte { return text }
	for i := range n {
		level := diag.LevelError
		if i%2 == 1 {
			level = diag.LevelWarning
		}
		r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{
			Rule: "crowded-out", Level: level, Location: at("all.yaml", 6*i+5, 3, 6*i+5, 14), Related: places,
			Message: fmt.Sprintf("Deployment workload-%d: 3 replicas need 3 distinct kubernetes.io/hostname values; others keep them away", i),
			Object:  diag.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: fmt.Sprintf("workload-%d", i)},
		})
	}
	r.Sort()
	return r
}

// TestOutputFollowsInput checks that every format limits the output for a small input whose
// findings all refer to each other.
func TestOutputFollowsInput(t *testing.T) {
	trials.Large(t)
	const n = 800
	r := crowd(n)
	if size := len(r.Source("")); size > 220_000 {
		t.Fatalf("%d bytes of manifests", size)
	}
	for format, most := range map[string]int{
		"text": 5 << 20, "json": 8 << 20, "sarif": 20 << 20, "github": 128 << 10, "markdown": maxMarkdown, "comment": maxComment, "gitlab": 1 << 20, "junit": 8 << 20,
	} {
		out := written(t, format, r, Options{All: true})
		if len(out) > most {
			t.Errorf("%s: %d bytes, want at most %d", format, len(out), most)
		}
		if counted := strings.Contains(string(out), fmt.Sprint(n-maxRelated)); !counted && format != "github" && format != "gitlab" && format != "markdown" && format != "comment" {
			t.Errorf("%s does not count the places that it leaves out", format)
		}
	}
	if len(r.Diagnostics[0].Related) != n || r.Diagnostics[0].MoreRelated != 0 {
		t.Error("the report has changed")
	}
}

// TestRelatedPlacesAreCounted checks that twenty related locations are shown and that the others
// are counted.
func TestRelatedPlacesAreCounted(t *testing.T) {
	r := crowd(maxRelated + 5)
	for format, want := range map[string]string{
		"text": "  --> and 5 more places\n", "json": `"moreRelated": 5`, "sarif": "and 5 more places.", "github": "and 15 more places",
		"markdown": "- and 15 more places", "junit": "  --&gt; and 5 more places",
	} {
		out := string(written(t, format, r, Options{}))
		if !strings.Contains(out, want) {
			t.Errorf("%s: %q is missing in\n%.3000s", format, want, out)
		}
	}
	for _, format := range Formats() {
		if out := string(written(t, format, crowd(maxRelated/2), Options{})); strings.Contains(out, "more place") || strings.Contains(out, "moreRelated") {
			t.Errorf("%s counts places that it shows", format)
		}
	}
}

// sarifFile describes the parts of a SARIF file that the tests below read.
type sarifFile struct {
	Runs []struct {
		Results []struct {
			Level, BaselineState string
			PartialFingerprints  map[string]string
			RelatedLocations     []any
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
	}
}

func readSARIF(t *testing.T, out []byte) (doc sarifFile) {
	t.Helper()
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSARIFStaysWithinGitHubsLimits checks the limits with findings that do not compress well.
func TestSARIFStaysWithinGitHubsLimits(t *testing.T) {
	trials.Large(t)
	r := many(3000, "web")
	noise := uint64(1)
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		for range 20 {
			var b strings.Builder
			for range 12 {
				noise = noise*6364136223846793005 + 1442695040888963407
				fmt.Fprintf(&b, "%x ", noise)
			}
			d.Related = append(d.Related, diag.Related{Message: b.String(), Location: at("f.yaml", 1, 1, 1, 2)})
		}
	}
	out := written(t, "sarif", r, Options{})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(out)
	z.Close()
	run := readSARIF(t, out).Runs[0]
	if packed.Len() > maxPacked || len(out) > maxSARIF || len(run.Results) > maxResults || len(run.Results) < 500 {
		t.Errorf("%d bytes, %d packed, %d results", len(out), packed.Len(), len(run.Results))
	}
	last := run.Invocations[0].ToolExecutionNotifications
	want := fmt.Sprintf("%d of %d results were omitted, least severe first", len(r.Diagnostics)-len(run.Results), len(r.Diagnostics))
	if !run.Invocations[0].ExecutionSuccessful || !strings.HasPrefix(last[len(last)-1].Message.Text, want) {
		t.Errorf("notifications %v, want %q and a run that is complete", last, want)
	}
	for _, result := range run.Results {
		if result.Level != "error" && len(run.Results) <= 3000 {
			t.Fatal("a milder result takes the place of an error")
		}
	}
}

// TestSARIFKeepsWhatIsNew checks that new warnings come before old errors, and that every result
// has the same fingerprint as in a run without a change.
func TestSARIFKeepsWhatIsNew(t *testing.T) {
	trials.Large(t)
	r := many(3000, "web")
	plain := map[string]bool{}
	for _, result := range readSARIF(t, written(t, "sarif", r, Options{})).Runs[0].Results {
		plain[result.PartialFingerprints["schedlint/v1"]] = true
	}
	change := &diag.Change{Since: "main"}
	var fresh []diag.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Level == diag.LevelWarning && d.Location.Line > 2900 {
			fresh = append(fresh, d)
		} else {
			change.Unchanged = append(change.Unchanged, d)
		}
	}
	r.Diagnostics, r.Change = fresh, change
	results := readSARIF(t, written(t, "sarif", r, Options{})).Runs[0].Results
	states, known := map[string]int{}, 0
	for i, result := range results {
		states[result.BaselineState+" "+result.Level]++
		if plain[result.PartialFingerprints["schedlint/v1"]] {
			known++
		}
		if (i < len(fresh)) != (result.BaselineState == "new") {
			t.Fatalf("result %d is %s", i, result.BaselineState)
		}
	}
	if got := fmt.Sprint(states); got != "map[new warning:100 unchanged error:3000 unchanged warning:1900]" || known < 4900 {
		t.Errorf("%s, %d fingerprints are those of the other run", got, known)
	}
}

// TestTextIsBounded checks that text shows the worst findings in the order of the report and
// counts the others, unless all are requested.
func TestTextIsBounded(t *testing.T) {
	trials.Large(t)
	r := crowd(2000)
	r.Change = &diag.Change{Since: "main", Fixed: r.Diagnostics, Gone: r.Diagnostics}
	for i := range 5000 {
		r.Change.Silences = append(r.Change.Silences, diag.Silence{Message: fmt.Sprintf("silence %d", i)})
	}
	out := string(written(t, "text", r, Options{}))
	if len(out) > maxTextBytes+1<<20 {
		t.Errorf("%d bytes", len(out))
	}
	errors, warnings := strings.Count(out, ": error: "), strings.Count(out, ": warning: ")
	if want := fmt.Sprintf("\n%d more findings (%d errors, %d warnings): --all shows them\n", 2000-errors-warnings, 1000-errors, 1000-warnings); !strings.Contains(strings.ReplaceAll(out, "0 errors, ", ""), strings.ReplaceAll(want, "0 errors, ", "")) {
		t.Errorf("%d errors and %d warnings, want %q", errors, warnings, want)
	}
	if errors < 1000 && warnings > 0 {
		t.Error("a warning takes the place of an error")
	}
	for _, want := range []string{"4000 more silences", "1000 more fixed", "1000 more gone"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	all := string(written(t, "text", r, Options{All: true}))
	if n := strings.Count(all, ": error: ") + strings.Count(all, ": warning: "); n != 2000 {
		t.Errorf("--all shows %d findings", n)
	}
}

// TestLongNamesAreCut checks that the output for one finding is limited, however long its names
// are.
func TestLongNamesAreCut(t *testing.T) {
	evil := strings.Repeat("a", 3<<20)
	r := many(3, evil)
	for _, list := range []*[]diag.Skip{&r.Summary.Repeated, &r.Summary.Skipped, &r.Summary.Unknown, &r.Summary.NotJudged} {
		for range 300 {
			*list = append(*list, diag.Skip{Reason: evil, Count: 1, Places: []string{"a.yaml:1"}})
		}
	}
	for i := range r.Diagnostics {
		r.Diagnostics[i].Message = "Pod is bad"
	}
	for _, format := range []string{"text", "sarif", "github", "markdown", "junit"} {
		if out := written(t, format, r, Options{Verbose: true}); len(out) > 4<<20 {
			t.Errorf("%s: %d bytes", format, len(out))
		}
	}
}

// TestCoresAreCounted checks that the output of place is limited for a single contradiction.
func TestCoresAreCounted(t *testing.T) {
	p := placed()
	var core []diag.PlacementCore
	for i := range 60 {
		core = append(core, diag.PlacementCore{File: "a.yaml", Line: i + 1, Text: "one of sixty"})
	}
	p.Workloads[0].Core = core
	for format, want := range map[string]string{"text": "\n  and 40 more\n", "json": `"moreCore": 40`, "markdown": "\n- and 40 more\n", "html": "and 40 more<"} {
		out := placementIn(t, format, p)
		if n := strings.Count(out, "one of sixty"); n != maxRelated || !strings.Contains(out, want) {
			t.Errorf("%s shows %d members of 60, and has %q: %v", format, n, want, strings.Contains(out, want))
		}
	}
	if len(p.Workloads[0].Core) != 60 {
		t.Error("the placement has changed")
	}
}
