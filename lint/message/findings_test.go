package message

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/facts"
)

// finding is one row that a rule reports, and its expected lines.
type finding struct {
	Reason string          `json:"reason"`
	List   string          `json:"list"`
	Ref    string          `json:"ref,omitempty"`    // of workload 0
	Others []string        `json:"others,omitempty"` // of the workloads after it
	Row    json.RawMessage `json:"row"`
	Want   []string        `json:"want"`
}

// findingFiles returns the files of testdata, which contain their expectations.
func findingFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

func findingsOf(t *testing.T, file string) (all []finding) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := decodeStrictly(text, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}

// rewrite writes findings with their current lines.
func rewrite(t *testing.T, file string, all []finding) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// row returns the row of a finding, and the facts that contain it.
func (f *finding) row(t *testing.T) (any, *facts.Facts) {
	t.Helper()
	in := &facts.Facts{}
	for _, ref := range append([]string{f.Ref}, f.Others...) {
		kind, _, _ := strings.Cut(ref, " ")
		in.Workloads = append(in.Workloads, facts.Workload{Ref: ref, Kind: kind})
	}
	lists := reflect.ValueOf(in).Elem()
	for i := range lists.NumField() {
		if lists.Type().Field(i).Tag.Get("json") == f.List {
			row := reflect.New(lists.Field(i).Type().Elem())
			if err := decodeStrictly(f.Row, row.Interface()); err != nil {
				t.Fatalf("%s: %v: %s", f.Reason, err, f.Row)
			}
			return row.Interface(), in
		}
	}
	t.Fatalf("%s: there is no list %s", f.Reason, f.List)
	return nil, nil
}

// TestFindings words rows.
func TestFindings(t *testing.T) {
	c := NewCatalogue()
	worded := map[string]bool{}
	for _, file := range findingFiles(t) {
		all := findingsOf(t, file)
		for i := range all {
			f := &all[i]
			row, in := f.row(t)
			text, ok := c.Finding(f.Reason, row, in)
			got := append([]string{text.Headline}, text.Details...)
			if update := os.Getenv("SCHEDLINT_UPDATE") != ""; !ok || !update && !slices.Equal(got, f.Want) {
				t.Errorf("%s of %s:\ngot  %q\nwant %q", f.Reason, f.Row, got, f.Want)
			}
			f.Want = got
			worded[f.Reason] = true
		}
		if os.Getenv("SCHEDLINT_UPDATE") != "" && !t.Failed() {
			rewrite(t, file, all)
		}
	}
	for reason := range c {
		if !worded[reason] {
			t.Errorf("no row shows the words of %s", reason)
		}
	}
}

// TestFindingOfAnotherList: a reason words rows of its own list only.
func TestFindingOfAnotherList(t *testing.T) {
	c := NewCatalogue()
	if _, ok := c.Finding("alias-bomb", &facts.Loss{}, &facts.Facts{}); ok {
		t.Error("alias-bomb words a loss")
	}
	if _, ok := c.Finding("no-such-reason", &facts.Document{}, &facts.Facts{}); ok {
		t.Error("there is a reason no-such-reason")
	}
	if _, ok := c.Finding("alias-bomb", nil, &facts.Facts{}); ok {
		t.Error("alias-bomb words no row at all")
	}
}
