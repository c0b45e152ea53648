package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
)

// TestExplainDemo explains one finding of each kind in the demo. SCHEDLINT_UPDATE=1 rewrites the
// expected output.
func TestExplainDemo(t *testing.T) {
	trials.Large(t)
	const golden = "../report/explain.golden"
	t.Chdir("../../../fixtures/demo")
	var out bytes.Buffer
	for _, spot := range []string{"web.yaml:18", "api.yaml:34", "api.yaml:45", "cache.yaml:20", "database.yaml:25", "tenant.yaml:20", "web.yaml:3"} {
		args := []string{"explain", "-t", "nodes.yaml", "manifests/" + spot}
		out.WriteString("$ schedlint " + strings.Join(args, " ") + "\n")
		if code := Run(args, strings.NewReader(""), &out, &out); code != exitClean {
			t.Errorf("%s: exit status %d", spot, code)
		}
		out.WriteString("\n")
	}
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(golden))
	if err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("%s (SCHEDLINT_UPDATE=1 rewrites it): %v\n%s", golden, err, out.Bytes())
	}
}

// TestParseSpot parses locations as lint prints them, with file names from several operating
// systems.
func TestParseSpot(t *testing.T) {
	for text, want := range map[string]lint.Spot{
		"web.yaml:18":            {File: "web.yaml", Line: 18},
		"web.yaml:18:":           {File: "web.yaml", Line: 18},
		"web.yaml:18:13:":        {File: "web.yaml", Line: 18, Column: 13},
		`C:\shop\web.yaml:18`:    {File: `C:\shop\web.yaml`, Line: 18},
		`C:\shop\web.yaml:18:13`: {File: `C:\shop\web.yaml`, Line: 18, Column: 13},
		"a:b/web.yaml:3":         {File: "a:b/web.yaml", Line: 3},
		"<stdin>:4:2":            {File: "<stdin>", Line: 4, Column: 2},
		"-:4":                    {File: "-", Line: 4},
	} {
		if got, err := parseSpot(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", ":3", "web.yaml", "web.yaml:", "web.yaml:-3", "web.yaml:x:", `C:\web.yaml`} {
		if got, err := parseSpot(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
