package cpu

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestUsed checks that work is counted, regardless of how long it takes on a busy machine.
func TestUsed(t *testing.T) {
	for begun := Used(); Used()-begun < 20*time.Millisecond; {
		if spin() < 0 {
			t.Fatal("the work is lost")
		}
	}
}

// spin works for a moment.
func spin() (n int) {
	for i := range 1_000_000 {
		n ^= i
	}
	return n
}

// TestWorkEnds checks that work ends at its limit.
func TestWorkEnds(t *testing.T) {
	ctx, cancel := WithLimit(t.Context(), 30*time.Millisecond)
	defer cancel()
	for begun := Now(); ctx.Err() == nil; {
		if spin() < 0 || Since(begun) < 0 {
			t.Fatal("time goes back")
		}
	}
}

// TestWaiting checks that the time in which a process waits, for example for a CPU, does not
// count until the backstop.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := WithLimit(t.Context(), time.Minute)
		defer cancel()
		time.Sleep(Backstop*time.Minute - time.Second)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the wall clock ends it")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("it never ends")
		}
	})
}

// TestNoneLeft checks that a context without time left has ended.
func TestNoneLeft(t *testing.T) {
	ctx, cancel := WithLimit(t.Context(), 0)
	defer cancel()
	if ctx.Err() == nil {
		t.Error("it goes on")
	}
}
