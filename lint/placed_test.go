package lint_test

import (
	"context"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// place decides about manifests that are one context.
func place(t *testing.T, o lint.Options) *diag.Placement {
	t.Helper()
	doc, err := lint.Place(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return only(t, doc)
}

// only is the decision about the only context.
func only(t *testing.T, doc *diag.Placements) *diag.Placement {
	t.Helper()
	if len(doc.Decisions) != 1 || !doc.Failures.Complete() {
		t.Fatalf("%d decisions, complete: %v, failures: %v", len(doc.Decisions), doc.Failures.Complete(), doc.Failures)
	}
	return &doc.Decisions[0]
}
