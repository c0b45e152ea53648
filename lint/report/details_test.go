package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// detailed returns a finding with two details whose names contain characters that usually separate
// sentences.
func detailed() *diag.Report {
	return &diag.Report{
		Summary: diag.Summary{Workloads: 1},
		Diagnostics: []diag.Diagnostic{{
			Rule: "no-eligible-node", Level: diag.LevelError,
			Message:  "Deployment shop/web: no node has the label x; y",
			Details:  []string{"node a; b has the untolerated taint c; d", "1 pod stays Pending"},
			Location: at("apps/web.yaml", 7, 3, 7, 14),
		}},
	}
}

// TestDetails checks that no format splits a message or a detail.
func TestDetails(t *testing.T) {
	for format, want := range map[string][]string{
		"text": {
			"error: Deployment shop/web: no node has the label x; y [no-eligible-node]\n",
			"\n  = node a; b has the untolerated taint c; d\n  = 1 pod stays Pending\n",
		},
		"github":   {"::Deployment shop/web: no node has the label x; y%0Anode a; b has the untolerated taint c; d%0A1 pod stays Pending\n"},
		"markdown": {"no node has the label x; y\n", "\n- node a; b has the untolerated taint c; d\n- 1 pod stays Pending\n"},
		"junit":    {`message="Deployment shop/web: no node has the label x; y; node a; b has the untolerated taint c; d; 1 pod stays Pending"`},
		"gitlab":   {`"description": "Deployment shop/web: no node has the label x; y; node a; b has the untolerated taint c; d; 1 pod stays Pending."`},
		"sarif":    {`"text": "Deployment shop/web: no node has the label x; y. node a; b has the untolerated taint c; d. 1 pod stays Pending."`},
	} {
		var b bytes.Buffer
		if err := Write(&b, format, detailed(), Options{}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: no %q in\n%s", format, w, b.String())
			}
		}
	}
}

// TestDetailsInJSON checks that details are a list, which is omitted if it is empty.
func TestDetailsInJSON(t *testing.T) {
	r := detailed()
	plain := r.Diagnostics[0]
	plain.Details = nil
	r.Diagnostics = append(r.Diagnostics, plain)
	var b bytes.Buffer
	if err := Write(&b, "json", r, Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Diagnostics []map[string]any }
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if list, ok := doc.Diagnostics[0]["details"].([]any); !ok || len(list) != 2 || list[1] != "1 pod stays Pending" {
		t.Errorf("details are %v", doc.Diagnostics[0]["details"])
	}
	if _, ok := doc.Diagnostics[1]["details"]; ok {
		t.Error("a finding without details has some")
	}
}
