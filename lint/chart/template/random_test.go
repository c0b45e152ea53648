package template

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// writer writes random templates. Most of its expressions can be evaluated, so that execution gets
// beyond the first action.
type writer struct {
	r         *rand.Rand
	out       strings.Builder
	variables []string
	dots      int // number of enclosing with and range blocks, which change the dot
	loops     int
	left      int // number of actions that may still be written
}

func (w *writer) of(all ...string) string { return all[w.r.IntN(len(all))] }

func (w *writer) chance(percent int) bool { return w.r.IntN(100) < percent }

// space writes a space or, rarely, a line break, so that errors occur on different lines.
func (w *writer) space() string {
	if w.chance(10) {
		return "\n"
	}
	return " "
}

func (w *writer) root() string {
	// Inside with and range, the dot usually has no fields.
	if w.dots == 0 && w.chance(50) {
		return ""
	}
	return "$"
}

var paths = strings.Fields(`.int .zero .neg .int64 .uint .u8 .float .big .text .empty .true .false .nil .complex .list .none .strings
	.ints .array .bytes .map .map.a .map.b .map.a.x .map.a.n .map.list .texts .texts.k .anys .byInt .emptyMap .byFloat .inner .inner.Name
	.pointer .pointer.Name .nilPointer .outer .outer.Name .outer.Map.m .outerPointer.Any .words .wordsPointer .time .time.Year
	.timePointer.Year .err .broken .pointerToMap.z .pointerPointer.Name .missing .texts.none .map.none .value .seq`)

var wrongPaths = strings.Fields(`.missing.x .nil.x .text.x .int.x .nilPointer.Name .outer.private .inner.none .inner.Fails .inner.Panics
	.byInt.k .outer.Nil.Name .outer.inner .fn .nilFn .seq2`)

// operand writes an argument.
func (w *writer) operand(depth int) string {
	switch n := w.r.IntN(100); {
	case n < 12:
		return w.of("1", "0", "2", "1.5", "'a'", "0x1F", "-1", "3", "1e2")
	case n < 24:
		return w.of(`"a"`, `"b"`, `""`, "`raw`", `"x y"`, `"k"`, `"Name"`)
	case n < 28:
		return w.of("true", "false", "nil")
	case n < 36:
		return w.of(".", "$")
	case n < 52 && len(w.variables) > 0:
		return w.of(w.variables...) + w.of("", "", "", "", "", "", "", ".x", ".a")
	case n < 70 && depth > 0:
		return "(" + w.pipeline(depth-1) + ")" + w.of("", "", "", "", "", "", "", "", ".x", ".a.b")
	case n < 71 && w.chance(50):
		return w.root() + w.of(wrongPaths...)
	}
	return w.root() + w.of(paths...)
}

// calls lists function calls. Each has one word for every operand.
var calls = strings.Split(strings.TrimSpace(`
and . .
or . .
or . . .
and .
not .
len .list
len .text
len .
index .list 1
index .map "a"
index . .
index .byInt .
slice .text 1 .
slice .ints .
eq . .
eq .int .
eq .text .
eq . . .
ne . .
lt .int .
le .float .
gt .uint .
ge .text .
lt . .
print . .
printf "%v" .
printf "%d-%s" . .
println .
html .
js .
urlquery .
list . . .
deflt . .
quote .
int_ .int
int_ .
str .text
str .
f64 .
i64 .
u_8 .
b .
map_ .map
map_ .
slice_ .
ptr .
val .
err .
stringer .
refl .
back .
nothing
names 1 . .
names . "a"
call .fn .
call fn 2
call1 .fn
any .
same .
fails "why"
panics .
.time.Format "2006"
.pointer.Hello .
.inner.Hello "x"
`), "\n")

// anything lists calls whose arguments may have any type.
var anything = []string{"and . .", "or . .", "or . . .", "not .", "print . .", `printf "%v" .`, "list . . .", "deflt . .", "quote .", "refl .", "any .",
	"len .list", `index .map "a"`, "eq .missing .", "html .", "nothing", "int_ .int", "str .text", `.pointer.Hello "a"`, `.time.Format "2006"`}

func (w *writer) command(depth int) string {
	words := strings.Fields(w.of(calls...))
	if w.chance(70) {
		words = strings.Fields(w.of(anything...))
	}
	for i, word := range words {
		switch {
		case word == "." && i > 0:
			words[i] = w.operand(depth)
		case word[0] == '.' && len(word) > 1:
			words[i] = w.root() + word
		}
	}
	if w.chance(1) {
		words = words[:len(words)-w.r.IntN(len(words))]
	}
	out := words[0]
	for _, word := range words[1:] {
		out += w.space() + word
	}
	return out
}

func (w *writer) pipeline(depth int) string {
	var out string
	if w.chance(50) {
		out = w.operand(depth)
	} else {
		out = w.command(depth)
	}
	for w.chance(10) {
		words := strings.Fields(w.command(0))
		out += w.space() + "|" + w.space() + strings.Join(words[:max(1, len(words)-1)], " ")
	}
	return out
}

func (w *writer) action(text string) {
	w.out.WriteString(w.of("{{", "{{", "{{", "{{- "))
	w.out.WriteString(w.space() + text + " ")
	w.out.WriteString(w.of("}}", "}}", "}}", "-}}"))
}

// scoped calls write and then removes the variables that it declared.
func (w *writer) scoped(write func()) {
	mark := len(w.variables)
	write()
	w.variables = w.variables[:mark]
}

func (w *writer) variable() string {
	name := w.of("$a", "$b", "$c", "$d")
	w.variables = append(w.variables, name)
	return name
}

func (w *writer) block(depth int) {
	for range 1 + w.r.IntN(4) {
		if w.left--; w.left < 0 {
			return
		}
		w.out.WriteString(w.of("", "\n", "text", " text\n", "a: "))
		w.statement(depth)
	}
}

func (w *writer) statement(depth int) {
	switch n := w.r.IntN(100); {
	case n < 10:
		p := w.pipeline(2)
		w.action(w.variable() + " := " + p)
	case n < 16 && len(w.variables) > 0:
		w.action(w.of(w.variables...) + " = " + w.pipeline(2))
	case n < 30 && depth > 0:
		w.scoped(func() { w.conditional(depth - 1) })
	case n < 40 && depth > 0:
		w.scoped(func() { w.with(depth - 1) })
	case n < 58 && depth > 0:
		w.scoped(func() { w.loop(depth - 1) })
	case n < 62 && w.loops > 0:
		w.action(w.of("break", "continue"))
	case n < 67:
		w.action("template " + w.of(`"one"`, `"one"`, `"two"`, `"none"`) + w.of("", " "+w.operand(1)))
	case n < 69:
		w.action("/* comment */")
	default:
		w.action(w.pipeline(2))
	}
}

func (w *writer) otherwise(depth int) {
	if w.chance(40) {
		w.action("else")
		w.scoped(func() { w.block(depth) })
	}
	w.action("end")
}

func (w *writer) conditional(depth int) {
	w.action("if " + w.pipeline(2))
	w.scoped(func() { w.block(depth) })
	if w.chance(20) {
		w.action("else if " + w.pipeline(1))
		w.scoped(func() { w.block(depth) })
	}
	w.otherwise(depth)
}

func (w *writer) with(depth int) {
	p := w.pipeline(2)
	if w.chance(30) {
		p = w.variable() + " := " + p
	}
	w.action("with " + p)
	w.dots++
	w.scoped(func() { w.block(depth) })
	w.dots--
	w.otherwise(depth)
}

func (w *writer) loop(depth int) {
	p := w.root() + w.of(".list", ".ints", ".map", ".strings", ".none", ".int", ".byInt", ".nil", ".array", ".anys", ".seq", ".seq2", ".uint", ".text", "", ".zero", ".noSeq")
	if p == "" {
		p = w.pipeline(1)
	}
	switch n := w.r.IntN(10); {
	case n < 3:
		p = w.variable() + " := " + p
	case n < 6:
		p = w.variable() + ", " + w.variable() + " := " + p
	case n < 7 && len(w.variables) > 1:
		p = w.of(w.variables...) + ", " + w.of(w.variables...) + " = " + p
	}
	w.action("range " + p)
	w.dots++
	w.loops++
	w.scoped(func() { w.block(depth) })
	w.dots--
	w.loops--
	w.otherwise(depth)
}

// randomTemplate returns template source with two definitions.
func randomTemplate(seed uint64) string {
	w := &writer{r: rand.New(rand.NewPCG(seed, 0)), left: 1 + int(seed%12)}
	w.block(3)
	for _, name := range []string{"one", "two"} {
		w.variables, w.left = nil, 3
		fmt.Fprintf(&w.out, "\n{{ define %q }}", name)
		w.block(1)
		w.out.WriteString("{{ end }}")
	}
	return w.out.String()
}

// lined puts each word and parenthesis of an action on a line of its own, so that errors can be
// told apart by line.
func lined(source string) string {
	action := regexp.MustCompile(`\{\{(?:- )?(.*?)(?: -)?\}\}`)
	word := regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|[ ()|]")
	return action.ReplaceAllStringFunc(source, func(text string) string {
		at := action.FindStringSubmatchIndex(text)
		return text[:at[2]] + word.ReplaceAllStringFunc(text[at[2]:at[3]], func(s string) string {
			switch s {
			case " ":
				return "\n"
			case "(", ")", "|":
				return "\n" + s
			}
			return s
		}) + text[at[3]:]
	})
}

func TestRandom(t *testing.T) {
	failed := 0
	n := trials.Of(t, 100_000)
	for seed := range n {
		source := randomTemplate(uint64(seed))
		if seed%2 == 1 {
			source = lined(source)
		}
		if compareWith(t, tamed, source, data()) {
			failed++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if failed > n*9/10 || failed < n/10 && !trials.Few(t) {
		t.Errorf("%d of %d templates fail", failed, n)
	}
	t.Logf("%d of %d templates fail", failed, n)
}
