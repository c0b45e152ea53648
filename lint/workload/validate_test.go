package workload

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// row is a part of a pod's spec, or a complete manifest, with its only problem. The problem begins
// on the line that ends in "# here".
type row struct {
	rule, yaml string
	// stage, field and message describe the expected problem. field is relative to the pod's spec
	// or, for a complete manifest, to its root. message is a part of the message. All are empty if
	// no problem is expected.
	stage          Stage
	field, message string
}

// frame is the manifest around a fragment.
type frame struct {
	text   string
	indent int
	prefix string
}

var (
	asIs         = frame{text: "@"}
	inDeployment = frame{indent: 6, prefix: "spec.template.spec.", text: `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tenant: a, version: v1}}
    spec:
      containers: [{name: main, image: web}]
      @
`}
	inPod = frame{indent: 2, prefix: "spec.", text: `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web, tenant: a, version: v1}}
spec:
  containers: [{name: main, image: web}]
  @
`}
	inMachine = frame{indent: 6, prefix: "spec.template.spec.", text: `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: db}
spec:
  runStrategy: Always
  template:
    metadata: {labels: {app: db, tenant: a}}
    spec:
      domain: {memory: {guest: 2Gi}}
      @
`}
)

// bare returns the frame without its containers.
func (f frame) bare() frame {
	f.text = strings.Replace(f.text, "containers: [{name: main, image: web}]\n"+strings.Repeat(" ", f.indent), "", 1)
	return f
}

// fill puts a fragment into the frame.
func (f frame) fill(yaml string) string {
	yaml = strings.ReplaceAll(strings.TrimSpace(yaml), "\n", "\n"+strings.Repeat(" ", f.indent))
	return strings.Replace(f.text, "@", yaml, 1)
}

// load reads a manifest from standard input.
func load(t testing.TB, manifest string) []*Workload {
	t.Helper()
	return loadWith(t, manifest, func(*Reader) {})
}

// loadWith is like load, with a changed reader.
func loadWith(t testing.TB, manifest string, change func(*Reader)) []*Workload {
	t.Helper()
	dir := t.TempDir()
	in, err := source.Load(source.Options{Dir: dir, Root: dir, Stdin: strings.NewReader(manifest)}, []string{"-"})
	if err != nil || len(in.Problems) > 0 {
		t.Fatalf("reading the manifest: %v %+v\n%s", err, in.Problems, manifest)
	}
	r := NewReader(NewTable())
	change(r)
	set := r.Load(in.Objects, nil)
	r.Bind(set, nil, storage.Declared{})
	return set.Workloads
}

func check(t *testing.T, f frame, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			manifest := f.fill(r.yaml)
			found := load(t, manifest)
			if len(found) != 1 {
				t.Fatalf("%d workloads in\n%s", len(found), manifest)
			}
			w := found[0]
			for _, p := range w.Problems {
				inside(t, w.File(), p)
			}
			switch {
			case r.stage == "" && len(w.Problems) > 0:
				t.Errorf("must be accepted, got %+v\n%s", w.Problems, manifest)
			case r.stage != "" && len(w.Problems) != 1:
				t.Errorf("must have one problem, got %+v\n%s", w.Problems, manifest)
			case r.stage != "":
				r.compare(t, f, w.Problems[0], manifest)
			}
		})
	}
}

func (r row) compare(t *testing.T, f frame, p Problem, manifest string) {
	t.Helper()
	if p.Stage != r.stage || p.Field != f.prefix+r.field {
		t.Errorf("got stage %s, field %s; want %s, %s", p.Stage, p.Field, r.stage, f.prefix+r.field)
	}
	if !strings.Contains(p.Message, r.message) || r.message == "" {
		t.Errorf("message %q lacks %q", p.Message, r.message)
	}
	if c := p.Message[0]; c >= 'A' && c <= 'Z' || strings.HasSuffix(p.Message, ".") {
		t.Errorf("message %q must start in lower case and end without a period", p.Message)
	}
	line := 1 + strings.Count(manifest[:strings.Index(manifest+"# here", "# here")], "\n")
	if p.Span.Line != line {
		t.Errorf("is on line %d, want %d of\n%s", p.Span.Line, line, manifest)
	}
}

// inside checks that the span of a problem is inside the file.
func inside(t *testing.T, file *source.File, p Problem) {
	t.Helper()
	s := p.Span
	if s.Line < 1 || s.Line > file.LineCount() || s.EndLine != s.Line || s.Column < 1 || s.EndColumn <= s.Column ||
		s.EndColumn > len([]rune(file.Line(s.Line)))+1 {
		t.Errorf("%s: span %+v is not inside the file", p.Field, s)
	}
}

// TestSpan checks the text that the location of a problem covers.
func TestSpan(t *testing.T) {
	for _, r := range []struct{ yaml, want string }{
		{`topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]`, `maxSkew: 0`},
		{`topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]`, `topologyKey`},
		{`nodeSelector: {zone: "a b"}`, `zone: "a b"`},
		{`tolerations: [{}]`, `{`},
		{`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b, "c d"]}]}}]}}`, `"c d"`},
		{`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}`, `nodeSelectorTerms`},
		{`tolerations: [{key: a, tolerationSeconds: 3}]`, `tolerationSeconds: 3`},
	} {
		w := load(t, inDeployment.fill(r.yaml))[0]
		if len(w.Problems) != 1 {
			t.Errorf("%s: got %+v", r.yaml, w.Problems)
			continue
		}
		s := w.Problems[0].Span
		if got := string([]rune(w.File().Line(s.Line))[s.Column-1 : s.EndColumn-1]); got != r.want {
			t.Errorf("%s: underlines %q, want %q", r.yaml, got, r.want)
		}
	}
}

// TestPlainWordsFit checks that plain words have every form.
func TestPlainWordsFit(t *testing.T) {
	const letters = "ab9z0-A_./ "
	r := rand.New(rand.NewPCG(1, 1))
	plain := 0
	for range 20_000 {
		word := make([]byte, r.IntN(5)+60*r.IntN(2))
		for i := range word {
			word[i] = letters[r.IntN(len(letters)-5*r.IntN(2))]
		}
		if !plainWord(string(word)) {
			continue
		}
		plain++
		for _, f := range []format{labelKey, labelValue, subdomain, dnsLabel} {
			if problems := f.check(string(word)); len(problems) > 0 {
				t.Errorf("%q: %v", word, problems)
			}
		}
		if markers().Match(word) {
			t.Errorf("%q is a marker", word)
		}
	}
	if plain < 1000 {
		t.Errorf("%d words are plain", plain)
	}
}
