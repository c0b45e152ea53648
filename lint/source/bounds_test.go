package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/limits"
)

// smallFile and smallRun are limits that short inputs can exceed.
var (
	smallFile = limits.Cost{Bytes: 10_000, Documents: 5, Values: 60, Problems: 3, Suppressions: 4}
	smallRun  = limits.Cost{Bytes: 20_000, Documents: 8, Values: 100, Problems: 4, Suppressions: 6}
)

func smallOptions() Options {
	opts := everything
	opts.file, opts.run = &smallFile, &smallRun
	return opts
}

// TestBoundsOfFile checks files at a limit and beyond it. A file beyond a limit is left out
// completely. Its problem names the limit and the position at which it was exceeded.
func TestBoundsOfFile(t *testing.T) {
	podText := "apiVersion: v1\nkind: Pod\n"
	items := func(n int) string { return "kind: List\nitems:\n" + strings.Repeat("- {kind: Pod}\n", n) }
	for name, row := range map[string]struct {
		text    string
		objects int
		want    string
	}{
		"documents":               {strings.Repeat("---\n"+podText, 5), 5, ""},
		"one document more":       {strings.Repeat("---\n"+podText, 6), 0, "17: has more than 5 documents"},
		"empty documents":         {podText + strings.Repeat("---\n", 4), 1, ""},
		"too many empty ones":     {podText + strings.Repeat("---\n", 5), 0, "7: has more than 5 documents"},
		"broken documents":        {strings.Repeat("---\n"+podText, 6) + "---\na: b: c\n", 0, "17: has more than 5 documents"},
		"JSON values":             {strings.Repeat("{\"kind\": \"Pod\"}\n", 5), 5, ""},
		"one JSON value more":     {strings.Repeat("{\"kind\": \"Pod\"}\n", 6), 0, "6: has more than 5 documents"},
		"items":                   {items(4), 4, ""},
		"one item more":           {items(5), 0, "7: has more than 5 documents and items of Lists"},
		"items of two documents":  {items(2) + "---\n" + items(2), 0, "9: has more than 5 documents and items of Lists"},
		"values":                  {podText + "x: [" + strings.Repeat("a,", 50) + "]\n", 1, ""},
		"room for too many":       {podText + "x: [" + strings.Repeat("a,", 60) + "]\n", 0, "3: has syntax for more than 60 values"},
		"values in JSON":          {`{"kind": "Pod", "x": [1` + strings.Repeat(",1", 50) + "]}", 1, ""},
		"one value more":          {"{\"kind\": \"Pod\",\n\"x\": [1" + strings.Repeat(",1", 60) + "]}", 0, "2: has more than 60 values"},
		"values by aliases":       {podText + "x: &x [a,a,a,a,a,a,a]\ny: [*x,*x,*x,*x,*x,*x,*x]\n", 0, "1: has more than 60 values"},
		"mistakes":                {podText + strings.Repeat("kind: Pod\n", 3), 1, "3: duplicate, 4: duplicate, 5: duplicate"},
		"one mistake more":        {podText + strings.Repeat("kind: Pod\n", 9), 0, "3: duplicate, 4: duplicate, 5: duplicate, 6: has more than 3 mistakes in its text"},
		"mistakes in data":        {"{" + strings.Repeat("\"a\": 1,\n", 7) + `"b": 1}`, 0, ""},
		"mistakes in JSON":        {`{"kind": "Pod",` + strings.Repeat("\"a\": 1,\n", 7) + `"b": 1}`, 0, "2: duplicate, 3: duplicate, 4: duplicate, 5: has more than 3 mistakes in its text"},
		"unparsable ones":         {strings.Repeat("kind: [\n---\n", 4), 0, "1: unparsable, 3: unparsable, 5: unparsable, 7: has more than 3 mistakes in its text"},
		"comments":                {podText + strings.Repeat("# schedlint:ignore a b\n", 4), 1, ""},
		"too many suppressions":   {podText + "metadata: {annotations: {ignore.schedlint.dev/a: b}}\n" + strings.Repeat("# schedlint:ignore a b\n", 4), 0, "1: has more than 4 suppressions"},
		"templates are no faults": {strings.Repeat("kind: Pod\na: {{ b }} c\n---\n", 4) + podText, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := smallOptions()
			opts.Strict = false
			set, f := parsedWith(opts, "x", row.text)
			var all []string
			for _, p := range set.Problems {
				text := p.Detail
				switch p.Kind {
				case DuplicateKey:
					text = "duplicate"
				case Unparsable:
					text = "unparsable"
				}
				all = append(all, fmt.Sprintf("%d: %s", p.Span.Line, text))
			}
			if got := strings.Join(all, ", "); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if len(set.Objects) != row.objects {
				t.Errorf("%d objects, want %d", len(set.Objects), row.objects)
			}
			if f.refused != (row.objects == 0) || f.refused && (f.Roots() != nil || f.Directives() != nil) {
				t.Errorf("refused %t, and gives %d documents", f.refused, len(f.Roots()))
			}
			for _, p := range set.Problems {
				if p.Span.Line > f.LineCount() {
					t.Errorf("line %d of %d", p.Span.Line, f.LineCount())
				}
			}
			checkSet(t, set, f)
		})
	}
}

// TestDataBeyondBounds checks that JSON data that was never a manifest is left out silently. That
// is not so if something in it may be a manifest key or if the file has a known purpose.
func TestDataBeyondBounds(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:                "",
		`{"mankind ": 1}`:         "",
		`{"kind": 1}`:             "documents",
		`{"x": {"kind" : 1}}`:     "documents",
		`{"x": {"apiVersion":1}}`: "documents",
		`{"ki\u006ed": 1}`:        "documents",
		`{"\u00e4": 1}`:           "documents",
		`{"a": "\u00e9"}`:         "",
	} {
		opts := smallOptions()
		opts.Strict = false
		set, _ := parsedWith(opts, "x", strings.Repeat(text+"\n", 6))
		got := ""
		for _, p := range set.Problems {
			got += p.Detail
		}
		if !strings.Contains(got, want) || want == "" && (got != "" || len(set.Skipped) < 1 || set.Skipped[len(set.Skipped)-1].Reason != SkipLarge) {
			t.Errorf("%s: got %q, %v", text, got, set.Skipped)
		}
		if set, _ = parsedWith(smallOptions(), "x", strings.Repeat(text+"\n", 6)); len(set.Problems) != 1 {
			t.Errorf("%s: named as a manifest: %v", text, set.Problems)
		}
	}
}

// TestBoundsOfRun checks the limits of a run. The first file beyond a limit gets a problem, and
// neither that file nor any later one is read.
func TestBoundsOfRun(t *testing.T) {
	kind := "kind: Pod\n"
	for name, row := range map[string]struct {
		text string // contents of each of nine files
		read int    // number of files that are read
		want string
	}{
		"documents": {kind + "---\n" + kind + "---\n" + kind, 2, "with it the run has more than 8 documents and items of Lists; the 6 files after it are not read"},
		"values":    {kind + "x: [" + strings.Repeat("a,", 25) + "]\n", 3, "with it the run has more than 100 values; the 5 files"},
		"data":      {"x: [" + strings.Repeat("a,", 25) + "]\n", 8, "with it the run has more than 8 documents and items of Lists: lint"},
		"mistakes":  {kind + kind + kind, 2, "with it the run has more than 4 mistakes in its text; the 6 files"},
		"bytes":     {kind + "#" + strings.Repeat("a", 9_000) + "\n", 2, "with it the run has more than 20000 bytes; the 6 files"},
		"comments":  {kind + strings.Repeat("# schedlint:ignore a b\n", 2), 3, "with it the run has more than 6 suppressions; the 5 files"},
		"binary":    {"\x00", 4, "with it the run has more than 4 mistakes in its text; the 4 files"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for i := range 9 {
				files[fmt.Sprintf("%d.yaml", i)] = row.text
			}
			opts := smallOptions()
			opts.Dir = plant(t, files)
			opts.Root = opts.Dir
			set, err := Load(opts, []string{"."})
			if err != nil {
				t.Fatal(err)
			}
			last := set.Problems[len(set.Problems)-1]
			if want := fmt.Sprintf("%d.yaml", row.read); last.Kind != Unreadable || last.Span.File != want || !strings.Contains(last.Detail, row.want) {
				t.Errorf("%+v\nwant %s: %s", last, want, row.want)
			}
			for _, o := range set.Objects {
				if o.File.Name >= last.Span.File {
					t.Errorf("%s is read", o.File.Name)
				}
			}
			if len(set.Files) != 9 || len(set.Unread) != 9-row.read || set.Unread[0].File != last.Span.File || set.Unread[0].Reason != SkipBound {
				t.Errorf("%d files, unread %v", len(set.Files), set.Unread)
			}
		})
	}
}

// TestDefaultBounds measures the work for files far beyond the limits. Neither time nor memory may
// grow with the size of the file.
func TestDefaultBounds(t *testing.T) {
	trials.Large(t)
	most := limits.File
	for name, text := range map[string]string{
		"separators":     strings.Repeat("---\n", 300_000),
		"documents":      strings.Repeat("---\na: 1\n", 300_000),
		"broken":         strings.Repeat("---\nkind: [\n", 100_000),
		"JSON values":    strings.Repeat("{}\n", 300_000),
		"a key":          strings.Repeat("a: 1\n", 300_000),
		"a key in JSON":  "{" + strings.Repeat(`"a":1,`, 300_000) + `"a":1}`,
		"values":         "[" + strings.Repeat("1,", limits.DenseValues) + "1]",
		"values in YAML": strings.Repeat("-\n", limits.DenseValues),
	} {
		got := read([]byte(text), everything)
		if got.over == nil || got.sum.Documents > most.Documents+1 || got.sum.Values > limits.DenseValues+1 || len(got.errs) > most.Problems+1 {
			t.Errorf("%s: %v, %+v, %d mistakes", name, got.over, got.sum, len(got.errs))
		}
	}
}

// TestLargestRealText checks that the largest realistic input is far below all limits. The input
// has 10,000 Deployments, once as separate documents and once as a List.
func TestLargestRealText(t *testing.T) {
	var stream, list strings.Builder
	list.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range 200 { // one fiftieth of the real size
		text := strings.ReplaceAll(dumped, "NN", fmt.Sprint(i))
		stream.WriteString("---\n" + text)
		list.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n")
	}
	most := limits.File
	for _, text := range []string{stream.String(), list.String()} {
		set, _ := parsed("x", text)
		if got := read([]byte(text), everything); len(set.Objects) != 200 || len(set.Problems) > 0 || got.sum.Values*50 > most.Values/2 || len(set.Objects)*50 > most.Documents/2 {
			t.Errorf("%d objects, %v, %+v", len(set.Objects), set.Problems, got.sum)
		}
		if _, ok := crowded([]byte(text), len(text)/6); ok {
			t.Error("a text as dense as a dump is crowded")
		}
	}
}

// dumped is a Deployment as printed by kubectl get -o yaml.
const dumped = `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    deployment.kubernetes.io/revision: "1"
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"app":"web-NN"},"name":"web-NN","namespace":"default"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web-NN"}},"template":{"metadata":{"labels":{"app":"web-NN"}},"spec":{"containers":[{"image":"example.com/web:1.2.3","name":"web","ports":[{"containerPort":8080}],"resources":{"limits":{"cpu":"1","memory":"512Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}}]}}}}
  creationTimestamp: "2026-01-02T03:04:05Z"
  generation: 1
  labels:
    app: web-NN
  name: web-NN
  namespace: default
  resourceVersion: "123456"
  uid: 01234567-89ab-cdef-0123-456789abcdef
spec:
  progressDeadlineSeconds: 600
  replicas: 3
  revisionHistoryLimit: 10
  selector:
    matchLabels:
      app: web-NN
  strategy:
    rollingUpdate:
      maxSurge: 25%
      maxUnavailable: 25%
    type: RollingUpdate
  template:
    metadata:
      creationTimestamp: null
      labels:
        app: web-NN
    spec:
      containers:
      - image: example.com/web:1.2.3
        imagePullPolicy: IfNotPresent
        name: web
        ports:
        - containerPort: 8080
          protocol: TCP
        resources:
          limits:
            cpu: "1"
            memory: 512Mi
          requests:
            cpu: 100m
            memory: 128Mi
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status:
  availableReplicas: 3
  conditions:
  - lastTransitionTime: "2026-01-02T03:04:06Z"
    lastUpdateTime: "2026-01-02T03:04:06Z"
    message: Deployment has minimum availability.
    reason: MinimumReplicasAvailable
    status: "True"
    type: Available
  observedGeneration: 1
  readyReplicas: 3
  replicas: 3
  updatedReplicas: 3
`
