package render

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestPlacesCross checks that Marks and Lines survive encoding, including numbers that do not
// occur in practice, and that truncated input is an error.
func TestPlacesCross(t *testing.T) {
	var marks Marks
	var lines Lines
	for _, n := range []int{0, 1, -1, 63, 64, 1 << 20, math.MaxInt, math.MinInt} {
		marks = append(marks, Mark{n, 1, -1, 2, n, false}, Mark{3, n, n, 4, 5, true})
		lines = append(lines, Line{n, 1, -1, n, 0, 7, n, 8, n, 1, n, 2, n}, Line{-1, n, n, 2, 3, -1, 0, n, 0, n, -1, n, 0})
	}
	for _, out := range []*Output{{Marks: marks, Lines: lines}, {}} {
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		var got Output
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, out) {
			t.Errorf("%s: %+v %v\nwant %+v", text, got, err, out)
		}
	}
	for text, want := range map[string]string{`"AAAA"`: "too few", `"AAAAAP8="`: "does not end", `"////////////////"`: "does not end", `[1]`: "too few", `"*"`: "illegal"} {
		var got Output
		if err := json.Unmarshal([]byte(`{"Lines":`+text+`}`), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v, want %s", text, got, err, want)
		}
	}
}
