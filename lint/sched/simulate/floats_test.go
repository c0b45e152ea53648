package simulate

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestLogarithm compares logarithms with those of the standard library.
func TestLogarithm(t *testing.T) {
	for n := 1; n < 20_000; n++ {
		if got, want := logarithm(n), math.Log(float64(n)); math.Abs(got-want) > 4e-15 {
			t.Fatalf("logarithm(%d) = %v, want %v", n, got, want)
		}
	}
}

// fused matches instructions that multiply and add with one rounding.
var fused = regexp.MustCompile(`(?i)\tv?f?n?m?f(n?m)?(madd|msub|nmadd|nmsub|madbr?|msdbr?)[a-z0-9]*\t`)

// TestNoFusedProducts compiles floats.go for machines with such instructions. A second file, in
// which conversions are missing, shows that the test would find one.
func TestNoFusedProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles part of the standard library")
	}
	text, err := os.ReadFile("floats.go")
	if err != nil {
		t.Fatal(err)
	}
	careless := regexp.MustCompile(`float64\((float64\(pods\)\*weight)\)`).ReplaceAll(text, []byte("$1"))
	for _, arch := range []string{"arm64", "ppc64le", "riscv64", "s390x"} {
		for _, c := range []struct {
			text []byte
			want bool
		}{{text, false}, {careless, true}} {
			dir := t.TempDir()
			for name, content := range map[string]string{
				"go.mod": "module floats\n\ngo 1.26\n", "floats.go": string(c.text),
				"types.go": "package simulate\n\nconst mostScore = 100\n\ntype amounts struct{ cpu, memory int64 }\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			build := exec.Command("go", "build", "-gcflags=-S", ".")
			build.Dir, build.Env = dir, append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
			out, err := build.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", arch, err, out)
			}
			if found := fused.Find(out); (found != nil) != c.want {
				t.Errorf("%s: fused instruction %q, want one: %v", arch, found, c.want)
			}
		}
	}
}
