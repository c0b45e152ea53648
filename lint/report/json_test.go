package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestJSONStream checks that a report written one field at a time equals a report written at
// once, except for invalid UTF-8.
func TestJSONStream(t *testing.T) {
	changed := *canned()
	changed.Change = &diag.Change{Since: "main", Fixed: canned().Diagnostics[:1]}
	for _, r := range []*diag.Report{canned(), &changed, {}} {
		got := written(t, "json", r, Options{})
		var read jsonReport
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatal(err)
		}
		var whole strings.Builder
		if err := Encode(&whole, read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole.String(), strings.ReplaceAll(string(got), `\ufffd`, "\ufffd")); diff != "" {
			t.Error(diff)
		}
	}
}

// TestJSONKeepsTheValues checks that escaped strings decode to the original strings.
func TestJSONKeepsTheValues(t *testing.T) {
	var got jsonReport
	if err := json.Unmarshal(written(t, "json", canned(), Options{}), &got); err != nil {
		t.Fatal(err)
	}
	want := jsonReport{"1", true, nil, canned().Diagnostics, canned().Accepted, nil, canned().Summary}
	toUTF8 := cmp.Transformer("toUTF8", func(s string) string { return strings.ToValidUTF8(s, "\ufffd") })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), toUTF8); diff != "" {
		t.Error(diff)
	}
}

func TestJSONArraysAreNeverNull(t *testing.T) {
	r := &diag.Report{
		Diagnostics: []diag.Diagnostic{{Rule: "r"}},
		Summary:     diag.Summary{Skipped: []diag.Skip{{}}, NotJudged: []diag.Skip{{}}, Repeated: []diag.Skip{{}}, Unknown: []diag.Skip{{}}},
	}
	for _, r := range []*diag.Report{r, {}} {
		if got := string(written(t, "json", r, Options{})); strings.Contains(got, "null") {
			t.Error(got)
		}
	}
}

func TestJSONText(t *testing.T) {
	for in, want := range map[string]string{
		"a < b && c > d":   `"a < b && c > d"`,
		"東京 é":             `"東京 é"`,
		"\x1b\u202e\u009b": `"\u001b\u202e\u009b"`,
		"\U000e0041":       `"\udb40\udc41"`,
		"##[x] ## y":       `"#\u0023[x] ## y"`,
		"\\##[x]":          `"\\#\u0023[x]"`,
		"\x7f\xff":         `"\u007f\ufffd"`,
	} {
		var b strings.Builder
		if err := Encode(&b, in); err != nil || b.String() != want+"\n" {
			t.Errorf("%q: got %s, want %s", in, b.String(), want)
		}
	}
}
