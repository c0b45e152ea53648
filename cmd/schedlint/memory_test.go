package main

import "testing"

// TestGarbage: how far the heap may grow never falls as more is in use, but for what is
// lost in rounding, and stays within its bounds.
func TestGarbage(t *testing.T) {
	for _, args := range [][]string{nil, {"lint"}, {"place"}} {
		checkGarbage(t, large, largeHeapOf(args))
		checkGarbage(t, 0, largeHeapOf(args))
	}
}

func checkGarbage(t *testing.T, from, largeHeap int64) {
	t.Helper()
	last := int64(0)
	for live := int64(1 << 20); live < 8<<30; live += 1 << 20 {
		most, heap := live+live*int64(garbage(live, from, largeHeap))/100, int64(startHeap)
		if live > from {
			heap = largeHeap
		}
		if most < last-live/50 || most > max(live+mostGarbage+live/100, heap) || most > max(live+min(live, vast)*percent/100+max(0, live-vast), heap) {
			t.Fatalf("with %d MiB in use the heap may grow to %d MiB, before to %d", live>>20, most>>20, last>>20)
		}
		last = max(last, most)
	}
}
