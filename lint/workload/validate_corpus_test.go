package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// TestCorpusScratch
func TestCorpusScratch(t *testing.T) {
	dir, _ := filepath.Abs("../../../shared/corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus")
	}
	set, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	s := Load(NewTable(), set.Objects)
	for _, w := range s.Workloads {
		for _, p := range w.Problems {
			n++
			fmt.Printf("%s:%d:%d %s [%s] %s: %s (%s)\n", p.Span.File, p.Span.Line, p.Span.Column, w, p.Stage, p.Field, p.Message, p.Fix)
		}
	}
	fmt.Println(len(s.Workloads), "workloads", n, "problems")
}
