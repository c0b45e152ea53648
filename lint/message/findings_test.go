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

// finding is one row that a rule reports, and the lines that it is worded in.
type finding struct {
	Reason string          `json:"reason"`
	List   string          `json:"list"`
	Ref    string          `json:"ref"`    // of workload 0
	Others []string        `json:"others"` // of the workloads after it
	Row    json.RawMessage `json:"row"`
	Want   []string        `json:"want"`
}

// findingsOf are those of the files of testdata, which carry their expectations.
func findingsOf(t *testing.T) (all []finding) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var some []finding
		if err := decodeStrictly(text, &some); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, some...)
	}
	return all
}

func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// row is the row of a finding, and the facts that it is one of.
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
	for _, f := range findingsOf(t) {
		row, in := f.row(t)
		text, ok := c.Finding(f.Reason, row, in)
		if got := append([]string{text.Headline}, text.Details...); !ok || !slices.Equal(got, f.Want) {
			t.Errorf("%s of %s:\ngot  %q\nwant %q", f.Reason, f.Row, got, f.Want)
		}
		worded[f.Reason] = true
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
