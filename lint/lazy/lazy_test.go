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
