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

// finding is a row, or the values, that a rule reports, with the expected lines.
type finding struct {
	Reason string          `json:"reason"`
	List   string          `json:"list,omitempty"`
	Ref    string          `json:"ref,omitempty"`    // of workload 0
	Others []string        `json:"others,omitempty"` // of the workloads after it
	Row    json.RawMessage `json:"row,omitempty"`
	Values json.RawMessage `json:"values,omitempty"`
	Want   []string        `json:"want"`
	Help   string          `json:"help,omitempty"`
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

// values returns the values of a finding, or nil.
func (f *finding) values(t *testing.T) Values {
	t.Helper()
	if f.Values == nil {
		return nil
	}
	var all Values
	d := json.NewDecoder(bytes.NewReader(f.Values))
	if d.UseNumber(); d.Decode(&all) != nil {
		t.Fatalf("%s: %s", f.Reason, f.Values)
	}
	return all
}

// row returns the row of a finding, and the facts that contain it.
func (f *finding) row(t *testing.T) (any, *facts.Facts) {
	t.Helper()
	in := &facts.Facts{}
	if f.Row == nil {
		return nil, in
	}
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

// TestFindings checks the words for rows and values.
func TestFindings(t *testing.T) {
	c := NewCatalogue()
	worded := map[string]bool{}
	for _, file := range findingFiles(t) {
		all := findingsOf(t, file)
		for i := range all {
			f := &all[i]
			row, in := f.row(t)
			text, ok := c.Finding(f.Reason, row, f.values(t), in)
			got := append([]string{text.Headline}, text.Details...)
			if update := os.Getenv("SCHEDLINT_UPDATE") != ""; !ok || !update && (!slices.Equal(got, f.Want) || text.Help != f.Help) {
				t.Errorf("%s of %s%s:\ngot  %q, %q\nwant %q, %q", f.Reason, f.Row, f.Values, got, text.Help, f.Want, f.Help)
			}
			f.Want, f.Help = got, text.Help
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

// TestFindingOfAnotherList checks that a reason words only rows of its own list, or its own values.
func TestFindingOfAnotherList(t *testing.T) {
	c := NewCatalogue()
	for name, f := range map[string]struct {
		reason string
		row    any
		given  Values
	}{
		"another list":        {"alias-bomb", &facts.Loss{}, nil},
		"unknown":             {"no-such-reason", &facts.Document{}, nil},
		"no row":              {"alias-bomb", nil, nil},
		"values for a row":    {"alias-bomb", &facts.Document{}, Values{}},
		"a row for values":    {"single-pod", &facts.Workload{Ref: "Deployment shop/web"}, nil},
		"missing value":       {"single-pod", nil, Values{"pod": "Deployment shop/web"}},
		"value of a type":     {"single-pod", nil, Values{"workload": true}},
		"value of no meaning": {"label-missing", nil, Values{"workload": "a", "on": "nodes", "label": "a"}},
		"list of a number":    {"pool-lacks-label", nil, Values{"pool": "a", "labels": []any{true}}},
		"half a number":       {"budget-selects-several", nil, Values{"budget": "a", "workloads": json.Number("0.5")}},
	} {
		if text, ok := c.Finding(f.reason, f.row, f.given, &facts.Facts{}); ok {
			t.Errorf("%s: %s has the words %v", name, f.reason, text)
		}
	}
}
