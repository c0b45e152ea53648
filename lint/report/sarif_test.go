package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/schedlint/schedlint/lint/diag"
)

// sarifSchema returns the SARIF 2.1.0 schema in the SARIF library. It is an unexported constant
// there, so it is read from the library's source, which every machine that can build this package
// has.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatalf("locating the SARIF library: %v", err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, longestLiteral(parsed))
}

func compiled(t *testing.T, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("sarif.json")
}

// longestLiteral returns the longest string literal in a file.
func longestLiteral(f *ast.File) string {
	longest := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && len(text) > len(longest) {
				longest = text
			}
		}
		return true
	})
	return longest
}

func TestSARIFSchema(t *testing.T) { conforms(t, sarifSchema(t)) }

func valid(t *testing.T, schema *jsonschema.Schema, doc []byte) error {
	t.Helper()
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance)
}

// conforms validates output against a schema. It also checks that the schema rejects invalid
// documents.
func conforms(t *testing.T, schema *jsonschema.Schema) {
	t.Helper()
	validate := func(doc []byte) error { return valid(t, schema, doc) }
	reports := map[string]*diag.Report{"canned": canned(), "empty": {}, "changed": changed(), "incomplete": partial(), "cut": crowd(maxRelated + 5)}
	for name, evil := range attacks {
		if len(evil) < 1000 { // the schema does not limit lengths
			reports[name] = attacked(evil)
		}
	}
	for name, r := range reports {
		if err := validate(written(t, "sarif", r, Options{Category: "nightly"})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := bytes.Replace(written(t, "sarif", canned(), Options{}), []byte(`"level": "error"`), []byte(`"level": "fatal"`), 1)
	if validate(broken) == nil {
		t.Error("the schema accepts a level that does not exist")
	}
}

// sarifLog describes the parts of a SARIF file that the tests below read.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				SemanticVersion *string
				Rules           []struct {
					ID, Name, HelpURI                       string
					ShortDescription, FullDescription, Help struct{ Text, Markdown string }
					DefaultConfiguration                    struct{ Level string }
					Properties                              map[string]any
				}
			}
		}
		Invocations []struct {
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
		Results []sarifResult
	}
}

type sarifResult struct {
	RuleID, Level               string
	RuleIndex                   int
	Message                     struct{ Text string }
	Locations, RelatedLocations []struct {
		ID               int
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
		}
	}
	PartialFingerprints map[string]string
}

func decoded(t *testing.T, r *diag.Report) sarifLog {
	t.Helper()
	var l sarifLog
	if err := json.Unmarshal(written(t, "sarif", r, Options{}), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// The schema cannot express these conditions: references resolve, links have targets, URIs are
// relative, and messages are sentences.
func TestSARIFIsConsistent(t *testing.T) {
	t.Parallel()
	consistent(t, canned())
	for _, evil := range attacks {
		consistent(t, attacked(evil))
	}
}

func consistent(t *testing.T, r *diag.Report) {
	t.Helper()
	run := decoded(t, r).Runs[0]
	link := regexp.MustCompile(`[^\\]\]\((\d+)\)`)
	prints := map[string]bool{}
	for _, res := range run.Results {
		if got := run.Tool.Driver.Rules[res.RuleIndex].ID; got != res.RuleID {
			t.Errorf("ruleIndex of %.300s leads to %.300s", res.RuleID, got)
		}
		if len(res.Locations) != 1 || !strings.HasSuffix(res.Message.Text, ".") || strings.HasSuffix(res.Message.Text, "..") {
			t.Errorf("%.300s: %d locations, message %.300s", res.RuleID, len(res.Locations), res.Message.Text)
		}
		links := link.FindAllStringSubmatch(res.Message.Text, -1)
		if len(links) != len(res.RelatedLocations) {
			t.Errorf("%d links to %d places: %.300s", len(links), len(res.RelatedLocations), res.Message.Text)
		}
		for i, l := range links {
			if id := strconv.Itoa(res.RelatedLocations[i].ID); l[1] != id {
				t.Errorf("link to %s, place has id %s: %.300s", l[1], id, res.Message.Text)
			}
		}
		for _, l := range append(res.Locations, res.RelatedLocations...) {
			p, r := l.PhysicalLocation, l.PhysicalLocation.Region
			if u, err := url.Parse(p.ArtifactLocation.URI); err != nil || u.IsAbs() || u.Path == "" || u.Path[0] == '/' {
				t.Errorf("not a relative URI: %s", p.ArtifactLocation.URI)
			}
			if r.StartLine < 1 || r.StartColumn < 1 || r.EndLine < r.StartLine || r.EndLine == r.StartLine && r.EndColumn <= r.StartColumn {
				t.Errorf("%s: region %+v", res.RuleID, r)
			}
		}
		if own := res.PartialFingerprints["schedlint/v1"]; len(own) != 64 || prints[own] {
			t.Errorf("fingerprint %q is none or not its own", own)
		} else {
			prints[own] = true
		}
	}
}

func TestSARIFRules(t *testing.T) {
	driver := decoded(t, canned()).Runs[0].Tool.Driver
	var ids []string
	for _, r := range driver.Rules {
		ids = append(ids, r.ID)
		if strings.EqualFold(r.Name, r.ID) || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" {
			t.Errorf("metadata of a rule is missing: %+v", r)
		}
		if silent := r.ID == "never-fires"; (r.Help.Markdown == "") != silent || (r.Properties["tags"] == nil) != silent {
			t.Errorf("rule %s, without findings %t: %+v", r.ID, silent, r)
		}
	}
	if got := strings.Join(ids, " "); got != "anti-affinity-exceeds-domains never-fires selector-matches-nothing useless-toleration yaml-syntax" {
		t.Errorf("rules are %s", got)
	}
	first := driver.Rules[0]
	got := fmt.Sprintln(first.Name, first.DefaultConfiguration.Level, first.Properties)
	want := "AntiAffinityExceedsDomains error map[precision:very-high problem.severity:error tags:[kubernetes scheduling infeasible]]\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSARIFOwner checks that the owner and the runbook of a custom rule are in fields that viewers
// show.
func TestSARIFOwner(t *testing.T) {
	r := diag.Rule{ID: "own", Title: "Own", Description: "Why.", Category: "policy", Owner: "team *sre*", Runbook: "https://example.com/x?a=b", Related: []string{"https://example.org/"}}
	for i := range 30 {
		r.Tags = append(r.Tags, fmt.Sprintf("tag-%d", i), "kubernetes")
	}
	got := decoded(t, &diag.Report{Rules: []diag.Rule{r}, Diagnostics: []diag.Diagnostic{{Rule: r.ID}}}).Runs[0].Tool.Driver.Rules[0]
	if want := "Why.\nRule own, category policy.\nOwner: team *sre*\nRunbook: https://example.com/x?a=b\nhttps://example.org/"; got.Help.Text != want {
		t.Errorf("help %q, want %q", got.Help.Text, want)
	}
	if want := "\n\nOwner: team `*sre*`\n\nRunbook: <https://example.com/x?a=b>\n\n<https://example.org/>"; !strings.HasSuffix(got.Help.Markdown, want) {
		t.Errorf("help %q, want %q", got.Help.Markdown, want)
	}
	if got.HelpURI != r.Runbook {
		t.Errorf("the help is at %q", got.HelpURI)
	}
	if tags := fmt.Sprint(got.Properties["tags"]); strings.Count(tags, "kubernetes") != 1 || len(strings.Fields(tags)) != maxTags || !strings.HasPrefix(tags, "[kubernetes scheduling policy tag-0 ") {
		t.Errorf("tags %s", tags)
	}
}

func TestSARIFCap(t *testing.T) {
	r := &diag.Report{Rules: []diag.Rule{{ID: "a-b", Level: diag.LevelNote}}}
	for i := range maxResults + 3 {
		level := diag.LevelNote
		if i%2 == 1 {
			level = diag.LevelError
		}
		r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{Rule: "a-b", Level: level, Message: "m", Location: at("f", i+1, 1, i+1, 2)})
	}
	run := decoded(t, r).Runs[0]
	if len(run.Results) != maxResults || run.Results[0].Level != "error" || run.Results[maxResults-1].Level != "note" {
		t.Errorf("%d results, from %s to %s", len(run.Results), run.Results[0].Level, run.Results[len(run.Results)-1].Level)
	}
	want := "3 of 5003 results were omitted, least severe first: code scanning accepts 5000 results and 10 MB."
	if notes := run.Invocations[0].ToolExecutionNotifications; len(notes) != 1 || notes[0].Message.Text != want {
		t.Errorf("notifications are %v", notes)
	}
}

func TestRelativeURI(t *testing.T) {
	for in, want := range map[string]string{
		"apps/web.yaml": "apps/web.yaml", "<stdin>": "%3Cstdin%3E", "a b/ü#?.yaml": "a%20b/%C3%BC%23%3F.yaml",
		"/etc/x.yaml": "etc/x.yaml", "//host/x": "host/x", "C:/x.yaml": "C%3A/x.yaml", "file:///x": "file%3A/x",
		"./a//b.yaml": "a/b.yaml", `a\b`: "a%5Cb", "100%.yaml": "100%25.yaml", "\xff": "%FF", "/": "",
	} {
		if got := relativeURI(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// Code scanning requires a location for every result.
func TestPrimaryPlace(t *testing.T) {
	elsewhere := []diag.Related{{Message: "no place"}, {Location: at("g", 4, 2, 0, 0)}}
	for _, c := range []struct {
		location diag.Span
		related  []diag.Related
		want     diag.Span
	}{
		{at("f", 3, 5, 3, 9), elsewhere, at("f", 3, 5, 3, 9)},
		{at("f", 3, 5, 6, 1), nil, at("f", 3, 5, 6, 1)},
		{at("f", 3, 5, 4, 0), nil, at("f", 3, 5, 4, 1)},
		{at("f", 3, 5, 3, 2), nil, at("f", 3, 5, 3, 6)},
		{diag.Span{File: "f"}, elsewhere, at("f", 1, 1, 1, 2)},
		{diag.Span{}, elsewhere, at("g", 4, 2, 4, 3)},
		{diag.Span{}, nil, at(".schedlint.yaml", 1, 1, 1, 2)},
	} {
		if got := primaryPlace(&diag.Diagnostic{Location: c.location, Related: c.related}); got != c.want {
			t.Errorf("%v: got %v, want %v", c.location, got, c.want)
		}
	}
}

func TestIncompleteFixIsLeftOut(t *testing.T) {
	whole := diag.Edit{Location: at("f", 1, 1, 1, 1), NewText: "x"}
	for _, edits := range [][]diag.Edit{nil, {whole, {NewText: "y"}}, {{Location: diag.Span{File: "f"}}}} {
		if sarifFix(diag.Fix{Edits: edits}) != nil {
			t.Errorf("a fix of %v", edits)
		}
	}
	fix := sarifFix(diag.Fix{Edits: []diag.Edit{whole, {Location: at("g", 1, 1, 1, 1)}, whole}})
	if len(fix.ArtifactChanges) != 2 || len(fix.ArtifactChanges[0].Replacements) != 2 {
		t.Errorf("edits are not grouped by file: %d files", len(fix.ArtifactChanges))
	}
}

func TestSARIFVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v0.1.0": "0.1.0", "1.2.3-rc.1+abc": "1.2.3-rc.1+abc", "(devel)": "", "": "", "v1.2": "",
	} {
		got := decoded(t, &diag.Report{Version: version}).Runs[0].Tool.Driver.SemanticVersion
		if (got == nil) != (want == "") || got != nil && *got != want {
			t.Errorf("%q: got %v, want %q", version, got, want)
		}
	}
}

func TestPascal(t *testing.T) {
	for in, want := range map[string]string{
		"a-b": "AB", "taint-not-tolerated": "TaintNotTolerated", "foo": "FooRule", "Foo": "FooRule", "": "Rule", "é-x": "ÉX", "\x1b[a": "A",
	} {
		if got := pascal(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
