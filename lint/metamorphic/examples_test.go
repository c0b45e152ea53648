package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
)

// properties are ways to rewrite an example that must not change its answers.
var properties = []struct {
	name     string
	variants func(x example, d dice) []variant
}{
	{"shuffled documents", shuffledDocuments},
	{"shuffled nodes", shuffledNodes},
	{"split files", splitFiles},
	{"live nodes", liveMachines},
	{"renamed", renamedAll},
}

// everyExample returns the handwritten examples and random ones. Without the full trials there
// are fewer random ones, and with -short fewer handwritten ones.
func everyExample(t *testing.T) []example {
	t.Helper()
	list, random := slices.Concat(examples(), bounded(), crowds()), min(trials.Of(t, 30), 30)
	if trials.Few(t) {
		list, random = examples()[1:3], 1
	}
	for seed := range random {
		list = append(list, dice{rand.New(rand.NewPCG(uint64(seed), 41))}.example(seed))
	}
	return list
}

// TestExamples asks about each example in its original form and in other forms, and checks that the
// answers are the same and that lint and place agree. Without the full trials it tries one variant
// of one property for each example, in turn. Equal examples use equal random numbers.
func TestExamples(t *testing.T) {
	e, all := linttest.Engine(t), trials.Full(t)
	for i, x := range everyExample(t) {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			base := ask(t, e, variant{nodes: x.nodes, files: whole(x.docs)})
			if got := base.place.Verdict; x.verdict != "" && got != x.verdict {
				t.Errorf("%s, want %s", got, x.verdict)
			}
			agrees(t, x, base)
			asked := properties
			if !all {
				asked = properties[i%len(properties):][:1]
			}
			for _, p := range asked {
				variants := p.variants(x, dice{rand.New(rand.NewPCG(uint64(i), 43))})
				if !all {
					variants = variants[i%len(variants):][:1]
				}
				t.Run(p.name, func(t *testing.T) { hold(t, e, base, variants) })
			}
		})
	}
}

// shuffled returns three other orders, including the reverse.
func (d dice) shuffled(docs []string) [][]string {
	reversed := slices.Clone(docs)
	slices.Reverse(reversed)
	all := [][]string{reversed}
	for range 2 {
		other := slices.Clone(docs)
		d.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		all = append(all, other)
	}
	return all
}

// shuffledDocuments checks that the order of documents in a file does not matter.
func shuffledDocuments(x example, d dice) (all []variant) {
	for i, docs := range d.shuffled(x.docs) {
		all = append(all, variant{name: fmt.Sprint("order ", i), nodes: x.nodes, files: whole(docs)})
	}
	return all
}

// shuffledNodes checks that the order of nodes does not matter.
func shuffledNodes(x example, d dice) (all []variant) {
	for i, nodes := range d.shuffled(x.nodes) {
		all = append(all, variant{name: fmt.Sprint("order ", i), nodes: nodes, files: whole(x.docs)})
	}
	return all
}

// splitFiles checks that the division of documents into files does not matter.
func splitFiles(x example, d dice) []variant {
	cut := 1 + d.IntN(len(x.docs)-1)
	return []variant{
		{name: "one a file", nodes: x.nodes, files: oneAFile(x)},
		{name: "two files", nodes: x.nodes, files: []part{{"b.yaml", x.docs[cut:]}, {"a.yaml", x.docs[:cut]}}},
		{name: "one a file, files named backwards", nodes: x.nodes, files: oneAFileBackwards(x)},
	}
}

func oneAFile(x example) (all []part) {
	for i, doc := range x.docs {
		all = append(all, part{fmt.Sprintf("file-%02d.yaml", i), []string{doc}})
	}
	return all
}

func oneAFileBackwards(x example) (all []part) {
	for i, doc := range x.docs {
		all = append(all, part{fmt.Sprintf("file-%02d.yaml", len(x.docs)-i), []string{doc}})
	}
	return all
}

// liveMachines checks that nodes as in the dump of a live cluster, with some KiB of memory that
// no pod can use and unique labels, give the same answers as equal nodes.
func liveMachines(x example, d dice) []variant {
	v := variant{name: "memory, serial numbers and shelves", files: whole(x.docs), loose: true}
	for i, node := range x.nodes {
		node = strings.Replace(node, "labels: {", fmt.Sprintf("labels: {example.com/serial: s%08x, example.com/shelf: r%d, ", d.Uint32(), i/2), 1)
		v.nodes = append(v.nodes, strings.Replace(node, "memory: 8Gi", fmt.Sprintf("memory: %dKi", 8<<20+d.IntN(100)), 1))
	}
	return []variant{v}
}

// word matches a name in an example, newWord its replacement.
var word, newWord = regexp.MustCompile(`\bx-[a-z0-9-]*[a-z0-9]`), regexp.MustCompile(`\by-[0-9]{3}\b`)

// renamed replaces every name and records how to map it back. The function order assigns the sorted
// new names to the sorted old names.
func renamed(x example, name string, order func(n int) []int) variant {
	text := strings.Join(x.nodes, "---\n") + "---\n" + strings.Join(x.docs, "---\n")
	words := word.FindAllString(text, -1)
	slices.Sort(words)
	words = slices.Compact(words)
	to, from := map[string]string{}, map[string]string{}
	for i, k := range order(len(words)) {
		other := fmt.Sprintf("y-%03d", k)
		to[words[i]], from[other] = other, words[i]
	}
	change := func(docs []string) []string {
		var all []string
		for _, doc := range docs {
			all = append(all, word.ReplaceAllStringFunc(doc, func(s string) string { return to[s] }))
		}
		return all
	}
	back := func(s string) string {
		return newWord.ReplaceAllStringFunc(s, func(w string) string { return from[w] })
	}
	return variant{name: name, nodes: change(x.nodes), files: whole(change(x.docs)), back: back}
}

func ascending(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// renamedAll checks that names do not matter. If the new names sort like the old ones, nothing
// may change; otherwise the output may show another run.
func renamedAll(x example, d dice) []variant {
	backwards := renamed(x, "in the reverse order", func(n int) []int { o := ascending(n); slices.Reverse(o); return o })
	mixed := renamed(x, "in another order", d.Perm)
	backwards.loose, mixed.loose = true, true
	return []variant{renamed(x, "in the same order", ascending), backwards, mixed}
}

// TestSameBytes checks that the same input gives the same bytes in every format, on repeated runs,
// on any number of processors and in any order of the paths. It is not parallel, because it sets
// the number of processors of the process.
func TestSameBytes(t *testing.T) {
	for _, x := range everyExample(t)[:trials.AtLeast(t, 20, 6)-1] {
		t.Run(x.name, func(t *testing.T) { sameBytes(t, linttest.Engine(t), variant{nodes: x.nodes, files: oneAFile(x)}) })
	}
	if trials.Few(t) {
		return
	}
	x := examples()[0]
	v := variant{nodes: x.nodes}
	padding := strings.Repeat("# "+strings.Repeat("-", 97)+"\n", 35_000) // 3.5 MB: large enough to be read concurrently
	for i, doc := range x.docs {
		v.files = append(v.files, part{fmt.Sprintf("file-%d.yaml", i), []string{padding + doc}})
	}
	t.Run("files that are read by several at once", func(t *testing.T) { sameBytes(t, linttest.Engine(t), v) })
}

// rulesBind checks that pods that are never placed when resources are ignored are never placed at
// all.
func rulesBind(t *testing.T, p *diag.Placement) {
	t.Helper()
	if p.RulesVerdict == "never" && p.Verdict != "never" {
		t.Errorf("%s, and never by the rules alone", p.Verdict)
	}
	for _, w := range p.Workloads {
		if w.RulesVerdict == "never" && w.Verdict != "never" {
			t.Errorf("%s %s: %s, at most %d of %d, and never by the rules alone", w.Kind, w.Name, w.Verdict, w.MaxPlaced, w.Replicas)
		}
		if w.Verdict == "never" && p.Verdict != "never" {
			t.Errorf("%s %s is never placed whole, and the whole is %s", w.Kind, w.Name, p.Verdict)
		}
	}
}

func sameBytes(t *testing.T, e *rego.Engine, v variant) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	base := ask(t, e, v)
	slices.Reverse(v.files)
	for _, processors := range []int{1, 4} {
		runtime.GOMAXPROCS(processors)
		got := ask(t, e, v)
		for output, want := range base.bytes {
			if got.bytes[output] != want {
				t.Errorf("%s on %d processors: not the same\n%s\n%s", output, processors, want, got.bytes[output])
			}
		}
		if !reflect.DeepEqual(base.place, got.place) {
			t.Errorf("%d processors: another decision", processors)
		}
	}
}
