package agreement

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
)

// TestCopies judges very many copies of every fixture at once, each in its own namespace, and
// checks that there is no internal failure. SCHEDLINT_COPIES sets the number of bytes. With a large
// number, anything that takes quadratic time exceeds the time limit of go test.
func TestCopies(t *testing.T) {
	size := 4_000
	if text := os.Getenv("SCHEDLINT_COPIES"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	seeds := fixtureSeeds()
	tried := seeds
	if !trials.Full(t) && os.Getenv("SCHEDLINT_COPIES") == "" {
		tried = nil
		for _, i := range rand.New(rand.NewPCG(1, 61)).Perm(len(seeds))[:trials.AtLeast(t, len(seeds), 30)] {
			tried = append(tried, seeds[i])
		}
	}
	for i, s := range tried {
		text := copies(s.manifest, size)
		if text == nil {
			continue
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			o := s.options(t)
			linttest.Put(t, filepath.Join(o.Dir, "m.yaml"), string(text))
			r, _ := lint.Run(context.Background(), o)
			doc, err := lint.Place(context.Background(), o)
			if r.Failures.Internal() || err == nil && doc.Failures.Internal() {
				t.Errorf("a fault of schedlint: %v, %v", r.Failures, doc.Failures)
			}
		})
	}
}

// copies returns as many copies of some objects as fit into size bytes, or nil if they are not
// objects.
func copies(text []byte, size int) []byte {
	var objects []map[string]any
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil
		}
		if o["kind"] != nil {
			objects = append(objects, o)
		}
	}
	var out bytes.Buffer
	for n := 0; out.Len() < size && len(objects) > 0; n++ {
		for _, o := range objects {
			meta, ok := o["metadata"].(map[string]any)
			if !ok {
				continue
			}
			meta["namespace"] = fmt.Sprintf("copy-%d", n)
			if o["kind"] == "Namespace" {
				meta["name"] = meta["namespace"]
			}
			one, err := yaml.Marshal(o)
			if err != nil {
				return nil
			}
			fmt.Fprintf(&out, "---\n%s", one)
		}
		if out.Len() == 0 {
			return nil
		}
	}
	return out.Bytes()
}
