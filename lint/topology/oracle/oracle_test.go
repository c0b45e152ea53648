package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	registerAWS()
	os.Exit(m.Run())
}

// TestAgreement compares random NodePools and pods of a fixed seed.
func TestAgreement(t *testing.T) {
	counts, wrong := run(20260101, 2000)
	for i, number := range wrong {
		if i == 5 {
			t.Fatalf("and %d more", len(wrong)-i)
		}
		pool, pods := newCase(20260101, number)
		t.Errorf("%s---\n%s%s", pool, pods, compare(pool, pods))
	}
	for _, r := range []result{{theirs: eligible, ours: eligible}, {theirs: never, ours: never}} {
		if counts[r.String()] < 200 {
			t.Errorf("too little is compared: %d times %s", counts[r.String()], r)
		}
	}
}
