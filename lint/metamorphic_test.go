package lint_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
)

// everyExample runs a test about each example, those made by hand and random
// ones; the dice are the same for the same example.
func everyExample(t *testing.T, test func(t *testing.T, e *rego.Engine, x example, d dice)) {
	e := engine(t)
	list, random := slices.Concat(examples(), bounded(), crowds()), 30
	if testing.Short() {
		random = 8
	}
	for seed := range random {
		list = append(list, dice{rand.New(rand.NewPCG(uint64(seed), 41))}.example(seed))
	}
	for i, x := range list {
		t.Run(x.name, func(t *testing.T) { test(t, e, x, dice{rand.New(rand.NewPCG(uint64(i), 43))}) })
	}
}

// shuffled are three other orders, the reverse among them.
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

// TestShuffledDocuments: the order of documents in a file means nothing.
func TestShuffledDocuments(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, d dice) {
		var variants []variant
		for i, docs := range d.shuffled(x.docs) {
			variants = append(variants, variant{name: fmt.Sprint("order ", i), nodes: x.nodes, files: whole(docs)})
		}
		hold(t, e, x, variants)
	})
}

// TestShuffledNodes: nor does that of the nodes.
func TestShuffledNodes(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, d dice) {
		var variants []variant
		for i, nodes := range d.shuffled(x.nodes) {
			variants = append(variants, variant{name: fmt.Sprint("order ", i), nodes: nodes, files: whole(x.docs)})
		}
		hold(t, e, x, variants)
	})
}

// TestSplitFiles: documents may stand in as many files as one likes, and the
// paths in any order.
func TestSplitFiles(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, d dice) {
		var single, mixed []part
		for i, doc := range x.docs {
			single = append(single, part{fmt.Sprintf("file-%02d.yaml", i), []string{doc}})
			mixed = append(mixed, part{fmt.Sprintf("file-%02d.yaml", len(x.docs)-i), []string{doc}})
		}
		backwards := slices.Clone(single)
		slices.Reverse(backwards)
		cut := 1 + d.IntN(len(x.docs)-1)
		one, other := ask(t, e, variant{nodes: x.nodes, files: single}), ask(t, e, variant{nodes: x.nodes, files: backwards})
		for output, want := range one.bytes {
			if other.bytes[output] != want {
				t.Errorf("%s: the order of the paths changes it\n%s\n%s", output, want, other.bytes[output])
			}
		}
		hold(t, e, x, []variant{
			{name: "one a file", nodes: x.nodes, files: single},
			{name: "two files", nodes: x.nodes, files: []part{{"b.yaml", x.docs[cut:]}, {"a.yaml", x.docs[:cut]}}},
			{name: "one a file, files named backwards", nodes: x.nodes, files: mixed},
		})
	})
}

// word is a name in an example, newWord one that stands for it.
var word, newWord = regexp.MustCompile(`\bx-[a-z0-9-]*[a-z0-9]`), regexp.MustCompile(`\by-[0-9]{3}\b`)

// renamed gives every name another one, and its way back. The order says which
// of the new names, which are sorted, each of the sorted old ones gets.
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

// TestRenamed: names mean nothing. Where the new ones sort like the old ones,
// nothing at all may change; otherwise another run may be shown.
func TestRenamed(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, d dice) {
		backwards := renamed(x, "in the reverse order", func(n int) []int { o := ascending(n); slices.Reverse(o); return o })
		mixed := renamed(x, "in another order", d.Perm)
		backwards.loose, mixed.loose = true, true
		hold(t, e, x, []variant{renamed(x, "in the same order", ascending), backwards, mixed})
	})
}

// TestSameBytes: the same input gives the same bytes, in every format, however
// often and on however many processors.
func TestSameBytes(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, _ dice) {
		sameBytes(t, e, variant{nodes: x.nodes, files: whole(x.docs)})
	})
	x := examples()[0]
	v := variant{nodes: x.nodes}
	padding := strings.Repeat("# "+strings.Repeat("-", 97)+"\n", 35_000) // 3.5 MB: enough together to be read by several at once
	for i, doc := range x.docs {
		v.files = append(v.files, part{fmt.Sprintf("file-%d.yaml", i), []string{padding + doc}})
	}
	t.Run("files that are read by several at once", func(t *testing.T) { sameBytes(t, engine(t), v) })
}

// TestExampleVerdicts: the examples are what they are meant to be.
func TestExampleVerdicts(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, _ dice) {
		if got := ask(t, e, variant{nodes: x.nodes, files: whole(x.docs)}).place.Verdict; x.verdict != "" && got != x.verdict {
			t.Errorf("%s, want %s", got, x.verdict)
		}
	})
}

// TestRulesBind: leaving resources out can only help, so what the rules alone
// never place is never placed.
func TestRulesBind(t *testing.T) {
	everyExample(t, func(t *testing.T, e *rego.Engine, x example, d dice) {
		for _, docs := range append(d.shuffled(x.docs), x.docs) {
			rulesBind(t, ask(t, e, variant{nodes: x.nodes, files: whole(docs)}).place)
		}
	})
}

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
