package expect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
)

func finding(line int, rule, message string) diag.Diagnostic {
	return diag.Diagnostic{Rule: rule, Message: message, Location: diag.Span{File: "a.yaml", Line: line}}
}

func TestCheck(t *testing.T) {
	text := "kind: A # want \"x: one\" \"y: .wo\"\nkind: B\nkind: C # want \"x: never\"\nkind: D # want \"[\"\n"
	got := Check(map[string][]byte{"a.yaml": []byte(text)}, []diag.Diagnostic{finding(1, "x", "one"), finding(1, "y", "two"), finding(2, "z", "three")})
	want := []Problem{
		{"a.yaml", 2, "unexpected finding: z: three"},
		{"a.yaml", 3, `missing finding: want "x: never"`},
		{"a.yaml", 4, "\"[\" is no regular expression: error parsing regexp: missing closing ]: `[`"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWriteIsChecked checks that the result of Write expects exactly the given findings, whatever
// their text, and that writing it again does not change it.
func TestWriteIsChecked(t *testing.T) {
	found := []diag.Diagnostic{finding(1, "x", `a "quoted" (1.5) \ text`), finding(1, "x", "b"), finding(3, "y", "c")}
	text := "kind: A # want \"old\"\nkind: B # want \"gone\" # because \"stays\"\nkind: C # note\nkind: D\n"
	once := Write("a.yaml", []byte(text), found)
	for _, p := range Check(map[string][]byte{"a.yaml": once}, found) {
		if !strings.Contains(p.Message, "because") {
			t.Errorf("%+v in\n%s", p, once)
		}
	}
	if again := Write("a.yaml", once, found); string(again) != string(once) {
		t.Errorf("written again:\n%s\nbefore:\n%s", again, once)
	}
	if bare := Write("a.yaml", once, nil); string(bare) != "kind: A\nkind: B # because \"stays\"\nkind: C # note\nkind: D\n" {
		t.Errorf("without findings:\n%s", bare)
	}
}
