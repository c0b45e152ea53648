package meter

import "testing"

// spend returns 0 and a function that spends n steps one by one.
func spend(m *Meter, n int) (got int, f func()) {
	return 0, func() {
		for range n {
			m.Spend(1)
		}
	}
}

func TestWithin(t *testing.T) {
	m := New()
	_, ten := spend(m, 10)
	for steps, want := range map[int]bool{0: false, 9: false, 10: true, 11: true} {
		if got := m.Within(steps, ten); got != want {
			t.Errorf("10 steps within %d: %v", steps, got)
		}
	}
	if !m.Within(1_000_000, ten) {
		t.Error("a question that was given up leaves less for the next one")
	}
}

// TestNested checks that a nested question ends when its own steps or those of the outer question
// run out. In the second case, the outer question ends with its next step.
func TestNested(t *testing.T) {
	m := New()
	_, ten := spend(m, 10)
	inner, after := true, false
	outer := m.Within(15, func() {
		inner = m.Within(5, ten)
		after = m.Within(20, func() { m.Spend(8) })
	})
	if inner || !after || !outer {
		t.Errorf("inner %v, after %v, outer %v: the inner question alone is too long", inner, after, outer)
	}
	outer = m.Within(15, func() {
		inner = m.Within(100, func() { ten(); ten() })
		m.Spend(1)
	})
	if inner || outer {
		t.Errorf("inner %v, outer %v: both are too long", inner, outer)
	}
}

// TestOtherPanics checks that any other panic is not recovered.
func TestOtherPanics(t *testing.T) {
	defer func() {
		if recover() != "fault" {
			t.Error("the fault is lost")
		}
	}()
	New().Within(10, func() { panic("fault") })
}
