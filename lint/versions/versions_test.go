package versions_test

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/versions"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1.27": "1.27", "v1.36": "1.36", "1.35.2": "1.35.2", "v1.35.0": "1.35.0",
		"": "!", "1": "!", "v": "!", "1.35.": "!", "1.35.2.1": "!", "1.035": "!", "1.-35": "!", "1.35-eks": "!", "vv1.35": "!", "1.+35": "!", "1.99999999999": "!",
		"1.26": "range", "1.37": "range", "2.35": "range", "0.35": "range",
	} {
		v, err := versions.Parse(text)
		got := v.String()
		if err != nil {
			got = "!"
			if err.Error() == "expected a version from 1.27 to 1.36" {
				got = "range"
			}
		}
		if got != want {
			t.Errorf("%q: got %s (%v), want %s", text, got, err, want)
		}
	}
}

// TestKeeps checks each field one release before it is kept and in the first release that keeps it.
func TestKeeps(t *testing.T) {
	for _, f := range versions.Fields() {
		if got := f.Keeps(versions.Version{}); got != diag.Always {
			t.Errorf("%s: %s without a version", f.Gate, got)
		}
		before := versions.Version{Minor: f.On.Minor - 1, Patch: -1}
		if got := f.Keeps(before); got != diag.Never {
			t.Errorf("%s: %s in %s", f.Gate, got, before)
		}
		if got := f.Keeps(f.On); got != diag.Always {
			t.Errorf("%s: %s in %s", f.Gate, got, f.On)
		}
		if f.Since >= f.On.Minor || f.On.Minor <= versions.Oldest || f.On.Minor > versions.Newest {
			t.Errorf("%s: since %d, on in %s", f.Gate, f.Since, f.On)
		}
	}
	for text, want := range map[string]diag.Outcome{
		"1.34": diag.Never, "1.34.9": diag.Never, "1.35": diag.Unknown, "1.35.0": diag.Always, "1.35.3": diag.Always, "1.35.4": diag.Never, "1.36": diag.Never,
	} {
		v, err := versions.Parse(text)
		if got := versions.MaxUnavailable().Keeps(v); got != want || err != nil {
			t.Errorf("maxUnavailable in %s: got %s (%v), want %s", text, got, err, want)
		}
	}
}
