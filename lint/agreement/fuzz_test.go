package agreement

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// seed is a manifest and the nodes that it is judged with.
type seed struct{ manifest, nodes []byte }

// seeds returns the fixtures, then some generated clusters of each family, then the node files.
var seeds = sync.OnceValue(func() []seed {
	all := fixtureSeeds()
	for number := range 20 {
		for _, family := range clusters.Families {
			all = append(all, generated(family, 1, number))
		}
	}
	for _, name := range []string{"cluster", "clusterconfig", "talconfig", "machineconfig", "machinedeployment", "kubeadmcontrolplane", "machineset", "nodepool"} {
		nodes, err := os.ReadFile("../../fixtures/topology/" + name + ".yaml")
		if err != nil {
			panic(err)
		}
		all = append(all, seed{all[0].manifest, nodes})
	}
	return all
})

// fixtureSeeds returns the fixtures. Those without nodes of their own are judged with six.
var fixtureSeeds = sync.OnceValue(func() (all []seed) {
	six := []byte("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, zones: {a: 2, b: 2, c: 2}, allocatable: {cpu: 4, memory: 8Gi, pods: 20}}\n")
	for _, pattern := range []string{"../../fixtures/*/bad.yaml", "../../fixtures/*/good.yaml", "../../fixtures/kinds/*.yaml", "../../fixtures/incidents/*/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			panic(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil || filepath.Base(path) == "nodes.yaml" {
				continue
			}
			nodes, err := os.ReadFile(filepath.Join(filepath.Dir(path), "nodes.yaml"))
			if err != nil {
				nodes = six
			}
			all = append(all, seed{text, nodes})
		}
	}
	return slices.Clip(all)
})

func generated(family string, start, number int) seed {
	nodes, manifests := clusters.Generate(family, uint64(start), uint64(number)).Text()
	return seed{[]byte(manifests), []byte(nodes)}
}

// mutated runs a target on a fixture, which the first number selects, with the changes that the
// bytes encode. The corpus has only some of the fixtures, so that the test is fast.
func mutated(f *testing.F, body target) {
	step := 20
	switch {
	case trials.Full(f):
		step = 5
	case trials.Few(f):
		step = 50
	}
	for i := 0; i < len(seeds()); i += step {
		f.Add(uint16(i), []byte{}, []byte{}, uint16(i))
		f.Add(uint16(i+1), []byte{byte(i), byte(i * 7), byte(i * 13), byte(i * 31), 5, 9, byte(i), 3}, []byte{byte(i), 3, byte(i * 5), 1}, uint16(7))
	}
	f.Fuzz(func(t *testing.T, which uint16, manifest, topology []byte, at uint16) {
		execute(t, body, which, manifest, topology, at)
	})
}

// target tests one input; at is a number for choices.
type target func(t *testing.T, o lint.Options, at uint16)

// execute changes a seed and passes it to a target.
func execute(t *testing.T, body target, which uint16, manifest, topology []byte, at uint16) {
	s := seeds()[int(which)%len(seeds())]
	s.execute(t, body, manifest, topology, at)
}

func (s seed) execute(t *testing.T, body target, manifest, topology []byte, at uint16) {
	o := seed{mutate.Mutate(s.manifest, manifest), mutate.Mutate(s.nodes, topology)}.options(t)
	body(t, o, at)
}

// options writes a seed to a directory, to be judged there with every rule on.
func (s seed) options(t *testing.T) lint.Options {
	t.Helper()
	e, dir := linttest.Engine(t), t.TempDir()
	linttest.Put(t, filepath.Join(dir, "m.yaml"), string(s.manifest))
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), string(s.nodes))
	return lint.Options{
		Dir: dir, Root: dir, Paths: []string{"m.yaml"}, Topology: []string{"nodes.yaml"}, Policy: e, Today: "2026-11-21", Config: &config.Config{},
		Survive: []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname"},
		Level: func(id string) diag.Level {
			if r, _ := e.Rule(id); r.Level != diag.LevelOff {
				return r.Level
			}
			return diag.LevelNote
		},
	}
}

// targets lists the targets that use a complete input, by the name of their fuzz test.
var targets = map[string]target{"FuzzLint": fuzzLint, "FuzzPlace": fuzzPlace, "FuzzExplain": fuzzExplain, "FuzzFix": fuzzFix}

// executions returns how often a test runs each target, and the seed of its random numbers.
func executions(t *testing.T, n int) (times, seed int) {
	switch {
	case trials.Few(t):
		n = 1
	case !trials.Full(t):
		n = (n + 1) / 2
	}
	times, seed, err := mutate.Runs(n)
	if err != nil {
		t.Fatal(err)
	}
	return times, seed
}

// apart runs one input as a subtest, so that a panic does not stop the others. A failure logs the
// input.
func apart(t *testing.T, what func() string, body func(t *testing.T)) {
	t.Run("", func(t *testing.T) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			if t.Failed() {
				t.Log(what())
			}
		}()
		body(t)
	})
}

// TestMutated runs the targets on random changes without coverage instrumentation, which makes a
// fuzzer slow. To run each target 200,000 times, use SCHEDLINT_EXECUTIONS=200000 go test ./lint
// -run TestMutated -timeout 0. SCHEDLINT_SEED changes the inputs.
func TestMutated(t *testing.T) {
	n, start := executions(t, 25)
	for name, body := range targets {
		t.Run(name, func(t *testing.T) {
			for i := range n {
				r := rand.New(rand.NewPCG(uint64(start), uint64(i)))
				draw := func() []byte {
					data := make([]byte, 4*r.IntN(12))
					for i := range data {
						data[i] = byte(r.Uint32())
					}
					return data
				}
				which, manifest, topology, at := uint16(r.Uint32()), draw(), draw(), uint16(r.Uint32())
				what := func() string {
					return fmt.Sprintf("uint16(%d)\n[]byte(%q)\n[]byte(%q)\nuint16(%d)", which, manifest, topology, at)
				}
				apart(t, what, func(t *testing.T) { execute(t, body, which, manifest, topology, at) })
			}
		})
	}
}

// TestGenerated runs the targets on the generated clusters that the oracle judges, without
// changes: SCHEDLINT_EXECUTIONS of each family. Under -short the targets share the families.
func TestGenerated(t *testing.T) {
	t.Parallel()
	n, start := executions(t, 4)
	for turn, name := range slices.Sorted(maps.Keys(targets)) {
		body := targets[name]
		t.Run(name, func(t *testing.T) {
			for i := range n {
				for j, family := range clusters.Families {
					if trials.Few(t) && j%len(targets) != turn {
						continue
					}
					s := generated(family, start, i)
					what := func() string { return fmt.Sprintf("%s %d of seed %d\n%s%s", family, i, start, s.nodes, s.manifest) }
					apart(t, what, func(t *testing.T) { s.execute(t, body, nil, nil, uint16(i)) })
				}
			}
		})
	}
}

// FuzzLint runs all stages from the manifest to every output format. It checks that there is no
// panic and no location outside a file. It repeats a quarter of the runs and compares the bytes.
func FuzzLint(f *testing.F) { mutated(f, fuzzLint) }

func fuzzLint(t *testing.T, o lint.Options, at uint16) {
	once := func() map[string][]byte {
		r, err := lint.Run(context.Background(), o)
		if r == nil {
			t.Fatal(err)
		}
		r.Rules = rulesOf(t)
		checkReport(t, r)
		all := map[string][]byte{"error": fmt.Append(nil, err)}
		for _, format := range report.Formats() {
			var out bytes.Buffer
			if err := report.Write(&out, format, r, report.Options{Color: true, Verbose: true}); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			all[format] = out.Bytes()
		}
		return all
	}
	first := once()
	if at%4 != 0 {
		return
	}
	second := once()
	for format := range first {
		if !bytes.Equal(first[format], second[format]) {
			t.Errorf("%s differs from run to run:\n%s\n%s", format, first[format], second[format])
		}
	}
}

func rulesOf(t *testing.T) []diag.Rule {
	t.Helper()
	return linttest.Engine(t).Rules()
}

// FuzzPlace decides about all workloads together and writes all formats, twice.
func FuzzPlace(f *testing.F) { mutated(f, fuzzPlace) }

func fuzzPlace(t *testing.T, o lint.Options, _ uint16) {
	once := func() (out bytes.Buffer) {
		doc, err := lint.Place(context.Background(), o)
		if err != nil {
			fmt.Fprint(&out, err)
			return out
		}
		if doc.Failures.Internal() {
			t.Errorf("a fault of schedlint: %v", doc.Failures)
		}
		for _, format := range report.PlaceFormats() {
			if err := report.WritePlacement(&out, format, doc, report.Options{Verbose: true}); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
		}
		return out
	}
	first, second := once(), once()
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("two runs differ:\n%s\n%s", &first, &second)
	}
}

// FuzzExplain explains one line, twice.
func FuzzExplain(f *testing.F) { mutated(f, fuzzExplain) }

func fuzzExplain(t *testing.T, o lint.Options, at uint16) {
	text, err := os.ReadFile(filepath.Join(o.Dir, "m.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spot := lint.Spot{File: "m.yaml", Line: 1 + int(at)%(1+bytes.Count(text, []byte("\n")))}
	once := func() (out bytes.Buffer) {
		x, err := lint.Explain(context.Background(), o, spot)
		if err == nil {
			if x.Failures.Internal() {
				t.Errorf("a fault of schedlint: %v", x.Failures)
			}
			err = report.WriteExplanation(&out, x)
		}
		fmt.Fprint(&out, err)
		return out
	}
	first, second := once(), once()
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("two runs differ:\n%s\n%s", &first, &second)
	}
}

// FuzzFix applies the safe edits: each has a valid place in a file that was read.
func FuzzFix(f *testing.F) { mutated(f, fuzzFix) }

func fuzzFix(t *testing.T, o lint.Options, _ uint16) {
	fixed, err := lint.Fix(context.Background(), o)
	if err != nil {
		return
	}
	checkReport(t, fixed.After)
	for _, file := range fixed.Files {
		was, err := os.ReadFile(file.Path)
		if err != nil || !bytes.Equal(was, file.Before) {
			t.Errorf("%s is not what was read: %v", file.Name, err)
		}
		if bytes.Equal(file.Before, file.After) != (len(file.Edits) == 0) {
			t.Errorf("%s: %d edits", file.Name, len(file.Edits))
		}
	}
	if len(fixed.Files) > 0 && len(fixed.After.Diagnostics) >= len(fixed.Before.Diagnostics) {
		t.Errorf("%d findings before, %d after", len(fixed.Before.Diagnostics), len(fixed.After.Diagnostics))
	}
}

// checkReport checks every place of a report against the text of its file.
func checkReport(t *testing.T, r *diag.Report) {
	t.Helper()
	if r.Failures.Internal() {
		t.Errorf("a fault of schedlint: %v", r.Failures)
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		places := []diag.Span{d.Location}
		for _, rel := range d.Related {
			places = append(places, rel.Location)
		}
		for _, fix := range d.Fixes {
			for _, e := range fix.Edits {
				places = append(places, e.Location)
			}
		}
		for _, s := range places {
			if why := outside(r, s); why != "" {
				t.Errorf("%s: %s: place %v %s", d.Rule, d.Message, s, why)
			}
		}
	}
}

// outside returns the reason why a span is not in its file, or "" if it is in the file.
func outside(r *diag.Report, s diag.Span) string {
	if s.File == "" {
		return ""
	}
	text := r.Source(s.File)
	if text == nil {
		return "is in no file that was read"
	}
	lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	if s.Line < 1 || s.EndLine < s.Line || s.EndLine > len(lines) || s.Column < 1 || s.EndLine == s.Line && s.EndColumn < s.Column {
		return fmt.Sprintf("is none of %d lines", len(lines))
	}
	for _, at := range [][2]int{{s.Line, s.Column}, {s.EndLine, s.EndColumn}} {
		if length := len(bytes.Runes(lines[at[0]-1])); at[1] > length+1 {
			return fmt.Sprintf("is behind the %d characters of line %d", length, at[0])
		}
	}
	return ""
}
