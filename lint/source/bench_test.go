package source

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// generated returns an ordinary manifest of about 60 lines.
func generated(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\n  labels:\n    app: app-%d\nspec:\n  replicas: %d\n", i, i, i%5)
	fmt.Fprintf(&b, "  selector:\n    matchLabels:\n      app: app-%d\n  template:\n    metadata:\n      labels:\n        app: app-%d\n    spec:\n      containers:\n", i, i)
	for c := range 3 {
		fmt.Fprintf(&b, "      - name: main-%d\n        image: registry.example.com/team/app:%d\n        args:\n        - --verbose\n        - --port=80%02d\n", c, i, c)
		b.WriteString("        resources:\n          requests:\n            cpu: 100m\n            memory: 128Mi\n        ports:\n        - name: http\n          containerPort: 8080\n")
	}
	return b.String()
}

// BenchmarkParse compares parsing simple YAML with the YAML library, which is what doc.go promises.
func BenchmarkParse(b *testing.B) {
	text := generatedStream()
	const most = 0.25
	if !parseSimple(text, &simpleNodes{}, func(*yaml.Node) bool { return true }) {
		b.Fatal("the text is not simple")
	}
	ratio := trials.Least(5, most, func() float64 {
		ours := used(func() {
			for range 10 {
				if got := parseYAML(text, Options{Keep: func(string, string) bool { return true }}); len(got.docs) != 200 || len(got.errs) > 0 {
					b.Fatal(len(got.docs), got.errs)
				}
			}
		})
		return ours / used(func() {
			for range 10 {
				if failed, err := decodeAll(text, func(*yaml.Node) bool { return true }); failed {
					b.Fatal(err)
				}
			}
		})
	})
	b.ReportMetric(ratio, "times-library")
	trials.Bound(b, "CPU time as a multiple of the library's", ratio, most)
}

// used returns the CPU seconds that a call takes, with collecting its garbage.
func used(work func()) float64 {
	runtime.GC()
	now := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	start := now()
	work()
	runtime.GC()
	return now() - start
}

func generatedStream() []byte {
	var b bytes.Buffer
	for i := range 200 {
		b.WriteString("---\n" + generated(i))
	}
	return b.Bytes()
}
