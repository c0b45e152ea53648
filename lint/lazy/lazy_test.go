package lazy

import "testing"

// TestRegexp checks that nothing is compiled before its first use, and then once.
func TestRegexp(t *testing.T) {
	wrong, right := Regexp("("), Regexp("^a+$")
	first, second := right(), right()
	if !first.MatchString("aa") || first != second {
		t.Error("not the same expression")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression compiles")
		}
	}()
	wrong()
}

// TestCached checks that a value is computed once, also if it is the zero value.
func TestCached(t *testing.T) {
	calls, values := 0, map[string]int{}
	for range 2 {
		if got := Cached(values, "a", func() int { calls++; return 0 }); got != 0 || calls != 1 {
			t.Errorf("got %d after %d calls, want 0 after 1", got, calls)
		}
	}
}
