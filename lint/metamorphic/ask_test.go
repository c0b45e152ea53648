package metamorphic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
)

// part is one file of a variant. The order of parts is that of the paths.
type part struct {
	name string
	docs []string
}

// variant is an example written in another way. The function back maps its names to those of the
// example. It is nil if the names are the same. If loose is set, only the answers must be the same.
// Otherwise every part of the document must be the same.
type variant struct {
	name  string
	nodes []string
	files []part
	back  func(string) string
	loose bool
}

func whole(docs []string) []part { return []part{{"all.yaml", docs}} }

// answers holds what both commands report about one input.
type answers struct {
	place    *diag.Placement
	findings []string
	proved   *diag.Proved
	// gaveUp is set if a question exceeded its step budget, which may depend on names.
	gaveUp bool
	// bytes holds every output by command and format.
	bytes map[string]string
}

// ask lints and places a variant.
func ask(t *testing.T, e *rego.Engine, v variant) answers {
	t.Helper()
	dir := t.TempDir()
	save := func(name string, docs []string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(docs, "---\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	save("nodes.yaml", v.nodes)
	o := lint.Options{Dir: dir, Root: dir, Topology: []string{"nodes.yaml"}, Policy: e, Level: func(id string) diag.Level { r, _ := e.Rule(id); return r.Level }}
	for _, f := range v.files {
		save(f.name, f.docs)
		o.Paths = append(o.Paths, f.name)
	}
	linted, err := lint.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	linted.Rules = e.Rules()
	placed, err := lint.Place(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	a := answers{place: linttest.Only(t, placed), proved: linted.Summary.Proved, bytes: map[string]string{}}
	for _, format := range report.Formats() {
		var b bytes.Buffer
		if err := report.Write(&b, format, linted, report.Options{}); err != nil {
			t.Fatal(err)
		}
		a.bytes["lint "+format] = b.String()
	}
	for _, format := range report.PlaceFormats() {
		var b bytes.Buffer
		if err := report.WritePlacement(&b, format, placed, report.Options{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		a.bytes["place "+format] = b.String()
	}
	a.findings, a.gaveUp = said(linted, v.back), diag.Unsettled(linted.Summary.Unknown, "budget")
	back := v.back
	if back == nil {
		back = func(s string) string { return s }
	}
	a.place = named(t, a.bytes["place json"], back) // the documented format, without fields for text output
	return a
}

// said returns the findings without their places, with names mapped back.
func said(r *diag.Report, back func(string) string) []string {
	var list []string
	for _, d := range r.Diagnostics {
		text := fmt.Sprintf("%s %s %s/%s/%s: %s", d.Level, d.Rule, d.Object.Kind, d.Object.Namespace, d.Object.Name, linttest.Text(&d))
		if back != nil {
			text = back(text)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// suggestion matches a hint about the spelling of names, and nodeName one of the few nodes that
// are named out of many.
var suggestion, nodeName = regexp.MustCompile(` \(did you mean [^?]*\?\)`), regexp.MustCompile(`x-(node[0-9]+|spare)`)

// chosen matches findings about one of several equally good contradictions or runs: which one
// is reported depends on names.
var chosen = regexp.MustCompile(`^(\w+ (crowded-out|order-dependent-placement)) .*`)

// plain removes the parts of findings that may depend on names. These are suggested names and, if
// loose is set, names of nodes and locations.
func plain(findings []string, loose bool) []string {
	var list []string
	for _, text := range findings {
		text = suggestion.ReplaceAllString(text, "")
		if loose {
			text = chosen.ReplaceAllString(text, "$1")
			words := strings.FieldsFunc(nodeName.ReplaceAllString(text, "*"), func(r rune) bool { return strings.ContainsRune(" ,;()", r) })
			slices.Sort(words)
			text = strings.Join(words, " ")
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// named parses a placement, maps its names back, and sorts its workloads by these names.
func named(t *testing.T, text string, back func(string) string) *diag.Placement {
	t.Helper()
	var all diag.Placements
	if err := json.Unmarshal([]byte(back(text)), &all); err != nil {
		t.Fatal(err)
	}
	doc := linttest.Only(t, &all)
	slices.SortStableFunc(doc.Workloads, func(a, b diag.PlacementWorkload) int {
		return strings.Compare(a.Namespace+"/"+a.Kind+"/"+a.Name, b.Namespace+"/"+b.Kind+"/"+b.Name)
	})
	return doc
}

// aspects returns the parts of a placement one by one, so that a failure shows which of them
// differs. The first two are the answer, the others its presentation. The place of a core is
// left out, because files and lines differ.
func aspects(p *diag.Placement) []string {
	var table, cores, repairs strings.Builder
	for _, w := range p.Workloads {
		fmt.Fprintf(&table, "%s %s/%s: %s (rules alone: %s), %d to %d of %d\n", w.Kind, w.Namespace, w.Name, w.Verdict, w.RulesVerdict, w.MinPlaced, w.MaxPlaced, w.Replicas)
		for _, c := range w.Core {
			fmt.Fprintf(&cores, "%s: %s: %s\n", w.Name, c.Field, c.Text)
		}
		fmt.Fprintf(&repairs, "%s: %q\n", w.Name, w.Repairs)
	}
	stuck, pending := []diag.PlacementStep(nil), []diag.PlacementPending(nil)
	if p.Stuck != nil {
		stuck, pending = p.Stuck.Placements, p.Stuck.Pending
	}
	return []string{
		fmt.Sprintf("verdict: %s (rules alone: %s) %+v", p.Verdict, p.RulesVerdict, p.Pods),
		"workloads: " + table.String(),
		"cores: " + cores.String(),
		"repairs: " + repairs.String(),
		fmt.Sprint("witness: ", p.Witness),
		fmt.Sprint("stuck run: ", stuck),
		fmt.Sprint("pending: ", pending),
		fmt.Sprint("outside: ", p.Invalid, p.Unmodelled, p.Notes),
	}
}

// answerAspects is the number of aspects that are the answer itself.
const answerAspects = 2

// hold compares the answers about variants with those about the original example.
func hold(t *testing.T, e *rego.Engine, base answers, variants []variant) {
	t.Helper()
	for _, v := range variants {
		got := ask(t, e, v)
		rulesBind(t, got.place)
		want, have := aspects(base.place), aspects(got.place)
		if v.loose {
			want, have = want[:answerAspects], have[:answerAspects]
		}
		for i := range want {
			if want[i] != have[i] {
				t.Errorf("%s: not the same\n%.400s\n%.400s", v.name, want[i], have[i])
			}
		}
		was, is := base.findings, got.findings
		if v.back != nil {
			was, is = plain(was, v.loose), plain(is, v.loose)
		}
		missing := func(all, from []string) bool {
			return slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(from, s) })
		}
		if v.loose && (missing(was, is) && !got.gaveUp || missing(is, was) && !base.gaveUp) || !v.loose && !slices.Equal(was, is) {
			t.Errorf("%s: findings are not the same\n%s\n\n%s", v.name, strings.Join(was, "\n"), strings.Join(is, "\n"))
		}
	}
}
