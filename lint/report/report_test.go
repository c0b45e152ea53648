package report

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
)

// files holds the sources for the sample report.
var files = map[string]string{
	"apps/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  replicas: 5\n",
	"topology/nodes.yaml": "pools:\n  - name: general\n    zones: [a, b, c]\n    labels:\n      disk: ssd\n" +
		"  - name: spot\n    zones: [a]\n    taints:\n\t- spot=true:NoSchedule\n",
	"apps/カフェ.yaml": "\ufeffkind: Pod # 猫 é e\u0301 😀\nmetadata: {name: カフェ, labels: {zone: 東京}}\nspec:\n  nodeSelector:\n    zone: 東京\n",
	"<stdin>":       "kind: Pod\nspec: {}\n",
	"long.json":     `{"kind":"Pod","metadata":{"name":"` + strings.Repeat("x", 200) + `"},"spec":{"nodeName":"node-1","priority":1}` + strings.Repeat(" ,", 100) + "}\n",
	"::warning file=x::\x1b[2J.yaml": "# ##[error]owned \u202edrawkcab\u2069 \x00 \xff\n" +
		"name: \"a\r",
}

func at(file string, line, column, endLine, endColumn int) diag.Span {
	return diag.Span{File: file, Line: line, Column: column, EndLine: endLine, EndColumn: endColumn}
}

// canned returns a sample report with every kind of content that a format must render.
func canned() *diag.Report {
	web := diag.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	r := &diag.Report{
		Version: "v0.1.0",
		Rules: []diag.Rule{
			{
				ID: "anti-affinity-exceeds-domains", Title: "Required anti-affinity asks for more domains than exist",
				Description: "Every replica needs a domain of its own, so replicas beyond the number of domains stay Pending.",
				Category:    "infeasible", Level: diag.LevelError, Since: "v0.1.0",
				Related: []string{"https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"},
			},
			{ID: "never-fires", Title: "A rule without results", Description: "It is listed all the same.", Category: "fragile", Level: diag.LevelWarning, Since: "v0.1.0"},
			{ID: "selector-matches-nothing", Title: "No node has the label", Description: "The pod never starts.", Category: "ineffective", Level: diag.LevelWarning, Since: "v0.2.0"},
			{ID: "useless-toleration", Title: "Nothing is tolerated", Category: "advice", Level: diag.LevelNote},
		},
		Source: func(file string) []byte {
			if text, ok := files[file]; ok {
				return []byte(text)
			}
			return nil
		},
		Display: func(file string) string {
			if strings.HasPrefix(file, "<") || strings.HasPrefix(file, ":") {
				return file
			}
			return "deploy/" + file
		},
		Diagnostics: []diag.Diagnostic{
			{
				Rule: "anti-affinity-exceeds-domains", Level: diag.LevelError, Object: web,
				Message:  "Deployment shop/web needs 5 distinct topology.kubernetes.io/zone values, the topology has 3",
				Location: at("apps/web.yaml", 7, 3, 7, 14), Field: "spec.replicas", Pending: 2,
				Related: []diag.Related{
					{Message: "pool general spans zones a, b, c", Location: at("topology/nodes.yaml", 3, 12, 3, 21)},
					{Message: "pool spot [tainted] is closed to it", Location: at("topology/nodes.yaml", 9, 4, 9, 24)},
				},
				Fixes: []diag.Fix{
					{Description: "lower spec.replicas to 3", Edits: []diag.Edit{{Location: at("apps/web.yaml", 7, 13, 7, 14), NewText: "3"}}},
					{Description: "add two zones to pool general"},
				},
			},
			{
				Rule: "selector-matches-nothing", Level: diag.LevelWarning, Cluster: "tokyo",
				Object:  diag.Object{APIVersion: "v1", Kind: "Pod", Name: "カフェ"},
				Message: "Pod カフェ selects zone=東京, no node has it", Details: []string{"did you mean zone=東?"},
				Location: at("apps/カフェ.yaml", 2, 33, 2, 41),
				Related:  []diag.Related{{Message: "the comment", Location: at("apps/カフェ.yaml", 1, 11, 1, 20)}, {Message: "no place is known for this"}},
			},
			{
				Rule: "useless-toleration", Level: diag.LevelNote, Object: diag.Object{APIVersion: "v1", Kind: "Pod", Name: "x"},
				Message: "Pod x names a node", Location: at("long.json", 1, 252, 1, 271),
			},
			{
				Rule: "useless-toleration", Level: diag.LevelNote, Object: diag.Object{APIVersion: "v1", Kind: "Pod"},
				Message: "Pod tolerates nothing.", Location: at("<stdin>", 1, 1, 2, 9),
			},
			{
				Rule: "yaml-syntax", Level: diag.LevelError,
				Message:  "\"a\r\n::error::b\" [click](https://example.com) ##[add-mask]c \x1b[31m\u202e \u200b\xff",
				Object:   diag.Object{APIVersion: "v1", Kind: "Pod", Name: "]\\[\n"},
				Location: at("::warning file=x::\x1b[2J.yaml", 1, 3, 1, 18),
				Fixes:    []diag.Fix{{Description: "quote\nit", Edits: []diag.Edit{{Location: at("::warning file=x::\x1b[2J.yaml", 2, 1, 2, 1), NewText: "#\x1b\n"}}}},
			},
			{Rule: "yaml-syntax", Level: diag.LevelWarning, Message: "the run has no place"},
		},
		Accepted: []diag.Diagnostic{{
			Rule: "never-fires", Level: diag.LevelWarning, Message: "accepted", Location: at("apps/web.yaml", 1, 1, 1, 2),
			Accepted: &diag.Acceptance{By: diag.ByComment, Reason: "::error::\x1b[2J", Until: "2027-03-31", Location: at("apps/web.yaml", 1, 1, 1, 2)},
		}},
		Summary: diag.Summary{
			Healed: 2,
			Files:  6, Documents: 12, Workloads: 5, Nodes: 6, TopologyDeclared: true,
			Skipped: []diag.Skip{
				{Reason: "Helm template", Count: 1, Places: []string{"chart/templates/web.yaml:1"}},
				{Reason: "kustomization file", Count: 2},
			},
			NotJudged: []diag.Skip{{Reason: "argoproj.io/v1alpha1 Rollout", Count: 3, Places: []string{"a.yaml:1", "b.yaml:4"}}},
			Repeated:  []diag.Skip{{Reason: "Deployment shop/web", Count: 2, Places: []string{"apps/web.yaml:1", "::x::.yaml:9"}}},
			Unknown:   []diag.Skip{{Reason: "label disk", Count: 4}},
			Notes:     []string{"Preferred affinity was not checked: it never keeps a pod from starting.", "\x1b]0;title\a\u2066"},
		},
	}
	r.Sort()
	return r
}

// changed returns the sample report for a change.
func changed() *diag.Report {
	r := canned()
	r.Summary.Zones = map[string]int{"a": 3, "b\n| `@team` |": 2, "": 1}
	r.Summary.Proved = &diag.Proved{Workloads: 5, Fit: map[diag.Outcome]int{diag.Always: 3, diag.Never: 2}, Roll: map[diag.Outcome]int{}, Drain: map[diag.Outcome]int{diag.Always: 5}}
	r.Change = &diag.Change{Introduced: 6,
		Since: "main\x1b[2J",
		Before: &diag.Counts{Nodes: 8, Zones: map[string]int{"a": 3, "c": 5}, Workloads: 4,
			Proved: &diag.Proved{Workloads: 4, Fit: map[diag.Outcome]int{diag.Always: 4}, Roll: map[diag.Outcome]int{diag.Always: 4}, Drain: map[diag.Outcome]int{diag.Always: 4}}},
		Silences: []diag.Silence{
			{Message: "comment suppresses never-fires for Deployment shop/web: ::error::[x](1) <b>", Location: at("apps/web.yaml", 1, 1, 1, 2)},
			{Message: "fail-on: none\r\n::error::x instead of error", Location: at("::error::.yaml", 1, 1, 1, 2)},
			{Message: "rule useless-toleration: note instead of error"},
		},
		Fixed:     []diag.Diagnostic{{Rule: "never-fires", Level: diag.LevelError, Message: "is gone ##[x] @team", Location: at("old.yaml", 3, 1, 3, 4)}, {Rule: "r", Message: "no place"}},
		Undecided: []diag.Diagnostic{{Rule: "never-fires", Level: diag.LevelError, Message: "moot"}},
		Unchanged: []diag.Diagnostic{{Rule: "never-fires", Level: diag.LevelWarning, Message: "is still there", Location: at("apps/web.yaml", 8, 1, 8, 4)}},
	}
	return r
}

// written returns the output for a report in the given format.
func written(t testing.TB, format string, r *diag.Report, opts Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	outputs := map[string][]byte{"text-color": written(t, "text", canned(), Options{Color: true})}
	for _, f := range Formats() {
		outputs[f] = written(t, f, canned(), Options{})
	}
	for _, f := range []string{"text", "json", "sarif", "github", "markdown", "comment"} { // the other formats have only findings
		outputs["change-"+f] = written(t, f, changed(), Options{})
	}
	for name, got := range outputs {
		sameAsGolden(t, name, string(got))
	}
}

func TestWriteIsDeterministicAndChangesNothing(t *testing.T) {
	r := canned()
	for _, f := range Formats() {
		first := written(t, f, r, Options{})
		if second := written(t, f, r, Options{}); !bytes.Equal(first, second) {
			t.Errorf("%s differs between two runs", f)
		}
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Source" || p.Last().String() == ".Display" }, cmp.Ignore())
	if diff := cmp.Diff(canned(), r, ignore); diff != "" {
		t.Errorf("the report changed:\n%s", diff)
	}
}

func TestUnknownFormat(t *testing.T) {
	const all = "text, json, sarif, github, markdown, comment, gitlab, junit"
	for name, want := range map[string]string{
		"sarfi": `unknown format "sarfi", did you mean "sarif"? formats are ` + all,
		"JSON":  `unknown format "JSON", did you mean "json"? formats are ` + all,
		"table": `unknown format "table"; formats are ` + all,
		"":      `unknown format ""; formats are ` + all,
	} {
		err := Write(&bytes.Buffer{}, name, canned(), Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

// full is a writer for a disk without free space.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriterErrorsAreReported(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(full{}, f, canned(), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}

// An empty report must not look like a report that could not be written.
func TestEmptyReport(t *testing.T) {
	for _, f := range Formats() {
		got := string(written(t, f, &diag.Report{}, Options{}))
		if got == "" || !strings.HasSuffix(got, "\n") || strings.Contains(got, "null") {
			t.Errorf("%s: %s", f, got)
		}
	}
	if got := string(written(t, "text", &diag.Report{}, Options{})); got != "0 documents, 0 workloads, no topology; no findings\n" {
		t.Errorf("text: %q", got)
	}
}

func TestFormats(t *testing.T) {
	if want := []string{"text", "json", "sarif", "github", "markdown", "comment", "gitlab", "junit"}; !slices.Equal(Formats(), want) {
		t.Errorf("got %v, want %v", Formats(), want)
	}
}

// unsafeIn returns text that no output may contain: control characters other than line feeds,
// hidden runes, and commands to the runner that do not belong to the format.
func unsafeIn(format, out string) string {
	for i, r := range out {
		if r != '\n' && hidden(r) {
			return "hidden character in " + out[max(0, i-20):i]
		}
	}
	for line := range strings.Lines(out) {
		own := format == "github" && workflowCommand.MatchString(line)
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "::") && !own || strings.Contains(line, "##[") {
			return "command in " + line
		}
	}
	return ""
}

// workflowCommand matches the commands that the github format writes. Their parameters must be
// known and must not end early.
var workflowCommand = regexp.MustCompile(`^::(error|warning|notice) ((file|line|endLine|col|endColumn)=[^:,]*,)*title=[^:,]*::`)

func TestNothingUnsafeIsWritten(t *testing.T) {
	for _, f := range Formats() {
		for _, r := range []*diag.Report{canned(), changed()} {
			if found := unsafeIn(f, string(written(t, f, r, Options{}))); found != "" {
				t.Errorf("%s: %s", f, found)
			}
		}
	}
}
