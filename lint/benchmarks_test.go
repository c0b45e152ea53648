package lint_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBenchmarks checks that testdata/benchmarks.md has a row for each benchmark and no other, that each
// asserts something, and that the bounds in the table are those of the code.
func TestBenchmarks(t *testing.T) {
	code := map[string]string{} // the file of each benchmark
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`).FindAllSubmatch(text, -1) {
			code[filepath.ToSlash(filepath.Dir(path))[len("../"):]+" "+string(name[1])] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("testdata/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+ Benchmark\w+).*`).FindAllStringSubmatch(string(table), -1) {
		rows[row[1]] = true
		text := code[row[1]]
		if !strings.Contains(text, "trials.Bound(") && !strings.Contains(text, "timesBare(") {
			t.Errorf("%s asserts nothing", row[1])
		}
		for _, bound := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[0], -1) {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(bound[1]) + `\b`).MatchString(text) {
				t.Errorf("%s: the code does not have %s", row[1], bound[1])
			}
		}
	}
	if want, got := slices.Sorted(maps.Keys(code)), slices.Sorted(maps.Keys(rows)); !slices.Equal(got, want) {
		t.Errorf("the table has\n%s\nand there are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
