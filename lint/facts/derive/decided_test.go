package derive

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/facts"
)

// TestEveryListIsDecided checks that each list of facts says when it is complete for an object.
// Without that, suppressions of its rules are never reported as unused, and a question that was
// given up looks as if it had no finding.
func TestEveryListIsDecided(t *testing.T) {
	// Lists about files, about several workloads, or that describe the input.
	others := strings.Fields("documents suppressions crowds orders room circles workloads nodes pools objects capacity quotas limit_ranges runtime_classes")
	known := progress{}.lists()
	for f := range reflect.TypeFor[facts.Facts]().Fields() {
		list := f.Tag.Get("json")
		_, decided := known[list]
		if f.Type.Kind() == reflect.Slice && decided == slices.Contains(others, list) {
			t.Errorf("%s: add it to progress.lists if it is about single objects, else to the exceptions of this test", list)
		}
	}
}
