package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// problems returns the kinds and lines of the problems in a Set.
func problems(set *Set) string {
	var all []string
	for _, p := range set.Problems {
		all = append(all, fmt.Sprintf("%s %d:%d-%d", p.Kind, p.Span.Line, p.Span.Column, p.Span.EndColumn))
	}
	return strings.Join(all, ", ")
}

func TestRepeatedKeys(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "k%d: x\n", i)
		}
		return b.String() + last
	}
	for name, row := range map[string]struct{ text, want, first string }{
		"plain":             {"a: 1\nb: 2\na: 3\n", "duplicate-key 3:1-2", "1:1-2"},
		"quoted":            {"a: 1\n\"a\": 3\n", "duplicate-key 2:1-4", "1:1-2"},
		"nested":            {"x:\n- a: 1\n  a: 2\n", "duplicate-key 3:3-4", "2:3-4"},
		"flow":              {"x: {ä: 1, b: 2, 'b': 3}\n", "duplicate-key 1:17-20", "1:11-12"},
		"three times":       {"a: 1\na: 2\na: 3\n", "duplicate-key 2:1-2, duplicate-key 3:1-2", "1:1-2"},
		"in a long map":     {many("k7: y\n"), "duplicate-key 101:1-3", "8:1-3"},
		"in JSON":           {`{"a": 1, "b": {"c": 1, "c": 2}}`, "duplicate-key 1:24-27", "1:16-19"},
		"by a merge key":    {"b: &b {x: 1}\nu: {<<: *b, x: 2}\nv: {x: 2, <<: *b}\n", "", ""},
		"two merge keys":    {"b: &b {x: 1}\nu:\n  <<: *b\n  <<: *b\n", "", ""},
		"beside a merge":    {"b: &b {x: 1}\nu: {<<: *b, x: 2, x: 3}\n", "duplicate-key 2:19-20", "2:13-14"},
		"in kept fields":    {"kind: ConfigMap\napiVersion: v1\ndata: {a: 1, a: 2}\n", "duplicate-key 3:14-15", "3:8-9"},
		"letters of a case": {"a: 1\nA: 2\n", "", ""},
		"second document":   {"a: 1\n---\na: 1\n---\nb: 1\nb: 2\n", "duplicate-key 6:1-2", "5:1-2"},
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := parsed("x", row.text)
			if got := problems(set); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if len(set.Problems) == 0 {
				return
			}
			first := set.Problems[0].First
			if got := fmt.Sprintf("%d:%d-%d", first.Line, first.Column, first.EndColumn); got != row.first {
				t.Errorf("first at %s, want %s", got, row.first)
			}
		})
	}
}

// bomb returns a document that expands tenfold at every level.
func bomb(levels int, list bool) string {
	open, closing, item := "[", "]", "*l%[1]d"
	if !list {
		open, closing, item = "{", "}", "k%[2]d: *l%[1]d"
	}
	b := strings.Builder{}
	b.WriteString("l0: &l0 [x]\n")
	for i := range levels {
		fmt.Fprintf(&b, "l%d: &l%d %s", i+1, i+1, open)
		for k := range 10 {
			fmt.Fprintf(&b, item+", ", i, k)
		}
		b.WriteString(closing + "\n")
	}
	return b.String()
}

// bigAlias returns a document with an anchored list of n maps and one alias to it.
func bigAlias(n int) string {
	return "a: &a\n" + strings.Repeat("- {b: c}\n", n) + "d: *a\n"
}

// chain returns a document with a chain of n maps, each of which contains the previous one.
func chain(n int, link string) string {
	b := strings.Builder{}
	b.WriteString("a0: &a0 {x: 1}\n")
	for i := range n {
		fmt.Fprintf(&b, "a%[2]d: &a%[2]d {"+link+"}\n", i, i+1)
	}
	return b.String()
}

// aliases lists documents with aliases and the problems that they cause.
var aliases = map[string]struct{ text, want string }{
	"bomb of lists":               {bomb(9, true), "alias-bomb 6:50-51"},
	"bomb of maps":                {bomb(9, false), "alias-bomb 6:59-60"},
	"small multiples":             {bomb(3, true), ""},
	"bombs below the limit":       {strings.Repeat(bomb(4, true)+"---\n", 10), "alias-bomb 53:30-31, alias-bomb 59:30-31"},
	"one alias of a large list":   {bigAlias(100_000), ""},
	"copies of a long text":       {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 60) + "]\n", "alias-bomb 2:65-66"},
	"some copies of a long text":  {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 10) + "]\n", ""},
	"cycle in a map":              {"a: &a\n  b: *a\n", "alias-cycle 2:6-7"},
	"cycle in a list":             {"a: &a [1, [*a]]\n", "alias-cycle 1:12-13"},
	"cycle by a merge key":        {"a: &a\n  <<: *a\n  b: 1\n", "alias-cycle 2:7-8"},
	"cycle by a list of merges":   {"b: &b {x: 1}\na: &a {<<: [*b, *a]}\n", "alias-cycle 2:17-18"},
	"cycle deep inside":           {"a: &a {b: {c: [{d: &d {e: *a}}]}}\n", "alias-cycle 1:27-28"},
	"cycle of two":                {"a: &a {b: &b {c: *a, d: *b}}\n", "alias-cycle 1:18-19"},
	"cycle in a key":              {"a: &a {*a : 1}\n", "alias-cycle 1:8-9"},
	"anchor set anew":             {"a: &x 1\nb: &x {c: 2}\nd: *x\n", ""},
	"anchor inside a merge":       {"a: {<<: &m {x: 1}, b: *m}\n", ""},
	"anchor inside a map key":     {"? &k [a]\n: b\nc: *k\n", ""},
	"anchor of another document":  {"a: &a 1\n---\nb: *a\n", "unparsable-document 3:1-6"},
	"unknown anchor":              {"a: 1\nb: *a\nc: 2\n", "unparsable-document 2:1-6"},
	"merge of a scalar":           {"a: {<<: x}\n", "unparsable-document 1:1-11"},
	"merge of nothing":            {"a:\n  <<:\n", "unparsable-document 2:3-6"},
	"merge of a list of scalars":  {"a: {<<: [{b: c}, d]}\n", "unparsable-document 1:1-21"},
	"nested by aliases":           {chain(250, "x: *a%[1]d"), "nesting-too-deep 200:17-18"},
	"merged again and again":      {chain(250, "<<: *a%[1]d, k%[1]d: 1"), ""},
	"one problem ends a document": {"a: &a {b: *a, c: *a, d: 1, d: 2}\n---\ne: 1\ne: 2\n", "alias-cycle 1:11-12, duplicate-key 4:1-2"},
}

func TestAliases(t *testing.T) {
	for name, row := range aliases {
		t.Run(name, func(t *testing.T) {
			set, _ := parsed("x", row.text)
			if got := problems(set); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	nested := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	for name, row := range map[string]struct{ text, want string }{
		"deep enough, lists": {nested("[", "x", "]", 200), ""},
		"too deep, lists":    {nested("[", "x", "]", 201), "nesting-too-deep 1:202-203"},
		"too deep, maps":     {nested("{a: ", "x", "}", 201), "nesting-too-deep 1:802-803"},
		"too deep, dashes":   {nested("- ", "x", "", 201), "nesting-too-deep 1:403-404"},
		"too deep for YAML":  {nested("[", "x", "]", 20_000), "nesting-too-deep 1:1-2"},
		"deep enough, JSON":  {nested("[", `"x"`, "]", 200), ""},
		"too deep, JSON":     {nested("[", `"x"`, "]", 201), "nesting-too-deep 1:202-203"},
		"too deep for JSON":  {nested("[", `"x"`, "]", 20_000), "nesting-too-deep 1:1-2"},
		"in kept fields":     {"kind: Secret\ndata: " + nested("[", "x", "]", 300), "nesting-too-deep 2:207-208"},
		"a document later":   {nested("[", "x", "]", 300) + "\n---\na: 1\na: 2\n", "nesting-too-deep 1:202-203, duplicate-key 4:1-2"},
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := parsed("x", row.text)
			if got := problems(set); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// longTexts returns input that a broken generator or an attacker may produce. percent scales its
// length.
func longTexts(percent int) map[string]string {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return map[string]string{
		"a long map":                numbered("key-%d: value\n", 100_000*percent/100),
		"a long flow map":           "{" + numbered("key-%d: value, ", 100_000*percent/100) + "}",
		"a long JSON map":           "{" + numbered(`"key-%d": 1, `, 100_000*percent/100) + `"end": 1}`,
		"a long map merged":         "a: &a\n" + numbered("  key-%d: value\n", 100_000*percent/100) + "b:\n  <<: *a\n  key-1: x\n",
		"a repeated key":            strings.Repeat("a: 1\n", 50_000*percent/100),
		"anchors":                   numbered("a%[1]d: &a%[1]d x\nb%[1]d: *a%[1]d\n", 50_000*percent/100),
		"documents":                 strings.Repeat("---\na: 1\n", 50_000*percent/100),
		"empty documents":           strings.Repeat("---\n", 200_000*percent/100),
		"broken documents":          strings.Repeat("---\n\ta\n", 50_000*percent/100),
		"unclosed quotes":           strings.Repeat("---\na: \"\n", 20_000*percent/100),
		"templates":                 strings.Repeat("---\na: {{ b }} c\n", 20_000*percent/100),
		"one error in a long text":  numbered("key-%d: value\n", 200_000*percent/100) + "a: b: c\n" + numbered("last-%d: value\n", 200_000*percent/100),
		"comments":                  "a:\n" + strings.Repeat("- x # y\n# z\n\n", 50_000*percent/100),
		"line breaks of Unicode":    strings.Repeat("a: \"\u2028\"\n---\n", 20_000*percent/100),
		"one line":                  "[" + strings.Repeat("ä, ", 200_000*percent/100) + "]",
		"JSON values":               strings.Repeat("{\"a\": 1}\n", 50_000*percent/100),
		"brackets that never close": strings.Repeat("[a, ", 9_000*percent/100),
	}
}

// TestLongTexts reads input that once took quadratic time. If it still did, the full length would
// exceed the timeout of go test.
func TestLongTexts(t *testing.T) {
	for name, text := range longTexts(trials.Of(t, 100)) {
		t.Run(name, func(t *testing.T) { allSpans(text) })
	}
}

// BenchmarkLongTexts checks that time is linear: ten texts take at least about as long as one of ten
// times the length. If time were quadratic, the long one would take ten times as long.
func BenchmarkLongTexts(b *testing.B) {
	const most = 1.5
	short := longTexts(10)
	for name, long := range longTexts(100) {
		b.Run(name, func(b *testing.B) {
			ratio := trials.Least(5, most, func() float64 {
				ten := used(func() {
					for range 10 {
						allSpans(short[name])
					}
				})
				return used(func() { allSpans(long) }) / ten
			})
			b.ReportMetric(ratio, "times-ten-short")
			trials.Bound(b, "CPU time as a multiple of ten short texts", ratio, most)
		})
	}
}

// allSpans asks for the positions of all objects in text.
func allSpans(text string) {
	set, f := parsed("x", text)
	for _, o := range set.Objects {
		f.Span(o.Root)
	}
}

// TestSpansOfOneLine asks for many positions in one long line.
func TestSpansOfOneLine(t *testing.T) {
	_, f := parsed("x", "["+strings.Repeat("ä, \"ö\", ", trials.Of(t, 50_000))+"]")
	docs, _ := documents(f.Text, everything)
	for _, n := range docs[0].root.Items() {
		if s := f.Span(n); s.Line != 1 || s.EndColumn < s.Column+1 {
			t.Fatalf("%v", s)
		}
	}
}

func TestEqual(t *testing.T) {
	read := func(text string) *Node {
		docs, errs := documents([]byte(text), everything)
		if len(errs) > 0 || len(docs) != 1 {
			t.Fatalf("%s: %v", text, errs)
		}
		return docs[0].root
	}
	digester := NewDigester()
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{"{a: 1, b: [x, {c: d}]}", "b:\n- x\n- c: 'd'\na: 1\n", true},
		{"{a: 1}", "{a: '1'}", false},
		{"{a: 1}", "{a: 1, b: 2}", false},
		{"{a: 1, c: 2}", "{a: 1, b: 2}", false},
		{"[1, 2]", "[2, 1]", false},
		{"{a: {}}", "{a: []}", false},
		{"{a: null, b: 0x10, c: yes, d: 1.50}", "{a: , b: 16, c: true, d: 1.5}", true},
		{"{a: yes}", "{a: no}", false},
		{"{a: 1}", "{a: 1.0}", false},
		{"&a {x: &b [1]}", "{x: [1]}", true},
	} {
		a, b := read(row.a), read(row.b)
		if got := Equal(a, b); got != row.want {
			t.Errorf("%s and %s: %t", row.a, row.b, got)
		}
		if got := digester.Sum(a) == digester.Sum(b); got != row.want {
			t.Errorf("%s and %s: equal sums %t", row.a, row.b, got)
		}
	}
	if !Equal(nil, nil) || !Equal(nil, read("null")) || Equal(nil, read("{}")) {
		t.Error("nothing is null")
	}
	var a, b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&a, "k%d: x\n", i)
		fmt.Fprintf(&b, "k%d: x\n", 99_999-i)
	}
	if !Equal(read(a.String()), read(b.String())) {
		t.Error("long maps in another order differ")
	}
}
