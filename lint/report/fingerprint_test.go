package report

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// The expected values were computed with GitHub's upload action.
func TestLineHashes(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: é😀\n"
	podHashes := "24dbd8f591a11357:1 ccf3ddd5b5bf205c:1 266803f5d92d03ab:1 55122d836135f762:1 c129715d7a2bc9a3:1"
	for text, want := range map[string]string{
		"":                                     "c129715d7a2bc9a3:1",
		"a: 1":                                 "85c1f919ae62217b:1",
		"a: 1\n":                               "4037987d9a8320d9:1 c129715d7a2bc9a3:1",
		pod:                                    podHashes,
		strings.ReplaceAll(pod, "\n", "\r\n"):  podHashes,
		strings.ReplaceAll(pod, "\n", "\r"):    podHashes,
		strings.ReplaceAll(pod, " ", "\t \t "): podHashes,
		"\ufeffa: 1\n":                         "b0d247ce31758248:1 c129715d7a2bc9a3:1",
		"a\r \nb":                              "67c066a59e652f5e:1 cc4c43d77869440f:1 8ee5a81e681643c1:1",
		strings.Repeat("- name: web\n", 12): "536cced676c43480:1 536cced676c43480:2 536cced676c43480:3 c9893cf489711bbb:1 e0e4b4f7b8ddc963:1 " +
			"f8889373aa3a3bcb:1 49641ea97853cf3:1 b5ede1925fcbc6db:1 ac60ac23c6338383:1 e12c0de407d14ceb:1 b69a27a100ebad13:1 " +
			"57e5b3b59d495dfb:1 c129715d7a2bc9a3:1",
	} {
		var got []string
		for _, h := range lineHashes(text) {
			got = append(got, h.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %s, want %s", text, strings.Join(got, " "), want)
		}
	}
}

func TestNoHashWithoutText(t *testing.T) {
	for _, c := range []struct {
		name string
		file *file
		line int
	}{
		{"no file", nil, 1},
		{"not UTF-8", newFile("a: \xff\n"), 1},
		{"lone CR", newFile("a: 1\rb: 2\n"), 1},
		{"below the end", newFile("a\n"), 3},
		{"no line", newFile("a\n"), 0},
	} {
		if got := c.file.hash(c.line); got != "" {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

func TestFingerprintIdentifies(t *testing.T) {
	base := diag.Diagnostic{Rule: "r", Message: "m", Object: diag.Object{Kind: "Pod", Name: "p"}, Location: at("f", 1, 1, 1, 2)}
	of := func(change func(*diag.Diagnostic)) string {
		d := base
		change(&d)
		return fingerprint(&d, map[diag.Key]int{})
	}
	same := of(func(*diag.Diagnostic) {})
	for name, c := range map[string]struct {
		change func(*diag.Diagnostic)
		equal  bool
	}{
		"line":    {func(d *diag.Diagnostic) { d.Location = at("f", 9, 9, 9, 9) }, true},
		"message": {func(d *diag.Diagnostic) { d.Message = "n" }, true},
		"details": {func(d *diag.Diagnostic) { d.Details = []string{"n"} }, true},
		"level":   {func(d *diag.Diagnostic) { d.Level = diag.LevelNote }, true},
		"rule":    {func(d *diag.Diagnostic) { d.Rule = "s" }, false},
		"object":  {func(d *diag.Diagnostic) { d.Object.Namespace = "n" }, false},
		"shifted": {func(d *diag.Diagnostic) { d.Object = diag.Object{Namespace: "Pod", Name: "p"} }, false},
		"cluster": {func(d *diag.Diagnostic) { d.Cluster = "c" }, false},
		"branch":  {func(d *diag.Diagnostic) { d.Branch = "prod" }, false},
		"file":    {func(d *diag.Diagnostic) { d.Location.File = "g" }, true},
		"field":   {func(d *diag.Diagnostic) { d.Field = "spec.replicas" }, false},
		"version": {func(d *diag.Diagnostic) { d.Object.APIVersion = "v2" }, true},
		"group":   {func(d *diag.Diagnostic) { d.Object.APIVersion = "apps/v1" }, false},
		"pending": {func(d *diag.Diagnostic) { d.Pending = 3 }, true},
	} {
		if got := of(c.change); (got == same) != c.equal {
			t.Errorf("%s: equal is %v, want %v", name, got == same, c.equal)
		}
	}
	seen := map[diag.Key]int{}
	first := fingerprint(&base, seen)
	if second := fingerprint(&base, seen); first == second {
		t.Error("two findings of one rule for one object have one fingerprint")
	}
}
