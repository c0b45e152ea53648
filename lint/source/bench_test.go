package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// generated returns an ordinary manifest of about 60 lines.
func generated(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\n  labels:\n    app: app-%d\nspec:\n  replicas: %d\n", i, i, i%5)
	fmt.Fprintf(&b, "  selector:\n    matchLabels:\n      app: app-%d\n  template:\n    metadata:\n      labels:\n        app: app-%d\n    spec:\n      containers:\n", i, i)
	for c := range 3 {
		fmt.Fprintf(&b, "      - name: main-%d\n        image: registry.example.com/team/app:%d\n        args: [--verbose, \"--port=80%02d\"]\n", c, i, c)
		b.WriteString("        resources:\n          requests:\n            cpu: 100m\n            memory: 128Mi\n        ports:\n        - name: http\n          containerPort: 8080\n")
	}
	return b.String()
}

// BenchmarkLoad reads 200 files.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	size := 0
	for i := range 200 {
		text := generated(i)
		size += len(text)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%03d.yaml", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if set, err := Load(Options{Dir: dir, Root: dir}, []string{"."}); err != nil || len(set.Objects) != 200 {
			b.Fatal(err, len(set.Objects))
		}
	}
}

// BenchmarkParse measures parsing alone, for one file with all 200 documents.
func BenchmarkParse(b *testing.B) {
	text := generatedStream()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if got := parseYAML(text, Options{Keep: func(string, string) bool { return true }}); len(got.docs) != 200 || len(got.errs) > 0 {
			b.Fatal(len(got.docs), got.errs)
		}
	}
}

// BenchmarkBare measures the YAML library alone, which is a lower bound.
func BenchmarkBare(b *testing.B) {
	text := generatedStream()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dec := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var n yaml.Node
			if err := dec.Decode(&n); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func generatedStream() []byte {
	var b bytes.Buffer
	for i := range 200 {
		b.WriteString("---\n" + generated(i))
	}
	return b.Bytes()
}
