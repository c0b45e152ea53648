package main

import (
	"os"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

func TestMain(m *testing.M) {
	registerAWS()
	os.Exit(m.Run())
}

// TestAgreement compares random NodePools and pods.
func TestAgreement(t *testing.T) {
	cases, seed := trials.AtLeast(t, 2000, 500), 20260101+uint64(trials.First(t))
	counts, wrong := run(seed, uint64(cases))
	for i, number := range wrong {
		if i == 5 {
			t.Fatalf("and %d more", len(wrong)-i)
		}
		pool, pods := newCase(seed, number)
		t.Errorf("%s---\n%s%s", pool, pods, compare(pool, pods))
	}
	for _, r := range []result{{theirs: eligible, ours: eligible}, {theirs: never, ours: never}} {
		if counts[r.String()] < cases/10 {
			t.Errorf("too little is compared: %d times %s", counts[r.String()], r)
		}
	}
}
