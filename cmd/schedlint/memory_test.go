package main

import "testing"

// TestLimitFor: the limit never falls as more is in use, and there is always room above
// what is.
func TestLimitFor(t *testing.T) {
	last := int64(0)
	for live := int64(0); live < 2<<30; live += 1 << 20 {
		limit := limitFor(live)
		if limit < last || limit < live+live/8 || limit > max(live+mostGarbage, startLimit) {
			t.Errorf("%d MiB in use: the limit is %d MiB, before %d", live>>20, limit>>20, last>>20)
		}
		last = limit
	}
}
