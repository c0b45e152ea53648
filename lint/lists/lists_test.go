package lists

import (
	"maps"
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	list := []int{3, 1, 3}
	if got := Of(list, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "3"}) {
		t.Errorf("Of: %q", got)
	}
	if got := Gather(list, func(n int) []int { return make([]int, n) }); len(got) != 7 {
		t.Errorf("Gather: %d elements, want 7", len(got))
	}
	if got := Where(list, func(n int) bool { return n > 1 }); !slices.Equal(got, []int{3, 3}) {
		t.Errorf("Where: %d", got)
	}
	if got := Set(list); !maps.Equal(got, map[int]bool{1: true, 3: true}) {
		t.Errorf("Set: %v", got)
	}
	if got := SetOf(list, strconv.Itoa); !maps.Equal(got, map[string]bool{"1": true, "3": true}) {
		t.Errorf("SetOf: %v", got)
	}
}

// TestNothing checks that empty lists are nil, as JSON and tests tell them from others, and that sets can be written.
func TestNothing(t *testing.T) {
	none := func(int) []int { return nil }
	if Of([]int{}, none) != nil || Gather([]int{1}, none) != nil || Where([]int{1}, func(int) bool { return false }) != nil {
		t.Error("an empty list is not nil")
	}
	if Set[int](nil) == nil {
		t.Error("an empty set is nil")
	}
}
