package source

import (
	"strings"
	"testing"
)

// TestUnwieldy checks quantities that Kubernetes or people write, and strings that the Kubernetes
// library would process for hours.
func TestUnwieldy(t *testing.T) {
	for _, row := range []struct {
		text string
		want bool
	}{
		{"", false},
		{"0", false},
		{"100m", false},
		{"1.5Gi", false},
		{"2Ei", false},
		{"3E", false},
		{"5e", false},
		{"12e6", false},
		{"1E+18", false},
		{"-9223372036854775808n", false},
		{"1e-000000000000000000000000000000000009", false},
		{"1e100", false},
		{"1e-100", false},
		{"1.7976931348623157e+99", false},
		{"cpu", false},
		{strings.Repeat("9", 64), false},
		{strings.Repeat("9", 65), true},
		{"0." + strings.Repeat("0", 1_000_000) + "1", true},
		{"1e101", true},
		{"1E-101", true},
		{"1e+000101", true},
		{"1e-100000000", true},
		{"\t1e-100000000\u00a0", true},
		{"1e100000000", true},
		{"1e4294967297", true}, // the Kubernetes library reads this as 10
		{"1e99999999999999999999", true},
	} {
		if got := Unwieldy(row.text); got != row.want {
			t.Errorf("%.40q: %t", row.text, got)
		}
	}
}
