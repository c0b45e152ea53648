package chart

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
)

// wrap returns a function that charges for its arguments before it calls f. The function also
// rejects results that are too large, and reports string results to the trace. It has the same type
// as f, because the type determines how arguments are converted.
func (e *engine) wrap(name string, f reflect.Value) any {
	kind := f.Type()
	charge, base := charges[name], fixed(name)
	deep, asJSON := slices.Contains(deepFunctions, name), slices.Contains(jsonFunctions, name)
	run := f.Call
	if kind.IsVariadic() {
		run = f.CallSlice
	}
	return reflect.MakeFunc(kind, func(args []reflect.Value) []reflect.Value {
		e.budget.charge(base)
		for _, arg := range args {
			switch {
			case asJSON:
				e.budget.marshalled(arg)
			case deep:
				e.budget.printed(arg)
			default:
				e.budget.shallow(arg)
			}
		}
		if charge != nil {
			charge(e.budget, args)
		}
		results := run(args)
		if len(e.l.in.Unknown) > 0 {
			results[0] = opaque(name, args, results[0])
		}
		e.budget.shallow(results[0])
		e.trace.called(name, args, results[0])
		return results
	}).Interface()
}

// fixed returns the minimum number of steps for a call of a function.
func fixed(name string) int {
	switch {
	case strings.HasPrefix(name, "semver"), strings.HasSuffix(name, "AES"), strings.HasPrefix(name, "url"):
		return 50
	case slices.Contains(decimals, name):
		return 500
	}
	return 1
}

// decimals lists the arbitrary-precision functions.
var decimals = strings.Fields("add1f addf subf divf mulf")

// deepFunctions lists functions that read their arguments completely. Some of them expect numbers
// or keys, but print a whole value of any other type.
var deepFunctions = strings.Fields(`toYamlPretty toToml toString toStrings quote squote cat print printf println html js urlquery deepCopy mustDeepCopy
	merge mustMerge mergeOverwrite mustMergeOverwrite deepEqual has mustHas uniq mustUniq without mustWithout
	join sortAlpha urlJoin int int64 float64 toDecimal add1 add sub div mod mul add1f addf subf divf mulf
	biggest max min maxf minf ceil floor round`)

// jsonFunctions lists functions that encode values with encoding/json.
var jsonFunctions = strings.Fields("toYaml toJson toPrettyJson toRawJson mustToJson mustToPrettyJson mustToRawJson")

// charges maps function names to functions that charge for a call. A charge is an upper bound for
// the work and the size of the result. It does not include reading the arguments. Functions that
// are not in the map return results that are not much larger than their arguments.
var charges = func() map[string]func(*budget, []reflect.Value) {
	all := map[string]func(*budget, []reflect.Value){}
	for _, row := range []struct {
		names  string
		charge func(*budget, []reflect.Value)
	}{
		{"dict", dictCharge},
		{"fromYaml fromYamlArray fromJson fromJsonArray mustFromJson semver", parseCharge},
		{"fromToml", tomlCharge},
		{"semverCompare", func(b *budget, a []reflect.Value) { parseCharge(b, a); parseCharge(b, a[1:]) }},
		{"repeat", func(b *budget, a []reflect.Value) { b.text(times(a[0].Int(), a[1].Len())) }},
		{"indent nindent", indentCharge},
		{"replace", replaceCharge},
		{"join", func(b *budget, a []reflect.Value) { b.text(times(listLen(a[1]), a[0].Len())) }},
		{"wrap wrapWith", wrapCharge},
		{"until", func(b *budget, a []reflect.Value) { b.items(between(0, a[0].Int(), 1)) }},
		{"untilStep", func(b *budget, a []reflect.Value) { b.items(between(a[0].Int(), a[1].Int(), a[2].Int())) }},
		{"seq", seqCharge},
		{"printf", printfCharge},
		// trimAll compares each character of the string with the cut set.
		{"trimall trimAll", func(b *budget, a []reflect.Value) { b.charge(times(a[0].Len(), a[1].Len()) / 4096) }},
		{"split", func(b *budget, a []reflect.Value) { b.items(times(4, parts(a))) }},
		{"splitList", func(b *budget, a []reflect.Value) { b.items(parts(a)) }},
		{"randAlphaNum randAlpha randNumeric randAscii randBytes", func(b *budget, a []reflect.Value) { b.text(times(a[0].Int(), 2)) }},
		{"uniq mustUniq without mustWithout", pairsCharge},
		{"chunk mustChunk concat append push prepend mustAppend mustPush mustPrepend", listsCharge},
		{"addf subf divf mulf", digitsCharge},
		{"regexMatch regexFind mustRegexMatch mustRegexFind", regexCharge},
		{"regexFindAll regexSplit mustRegexFindAll mustRegexSplit", regexListCharge},
		{"regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral", regexReplaceCharge},
	} {
		for name := range strings.FieldsSeq(row.names) {
			all[name] = row.charge
		}
	}
	return all
}()

// dictCharge charges for printing the keys of a dict. Keys may have any type.
func dictCharge(b *budget, a []reflect.Value) {
	for i := 0; i < a[0].Len(); i += 2 {
		b.printed(a[0].Index(i))
	}
}

// parseCharge charges for parsing a string. It estimates the number of values in the string from
// the characters that can precede a value. A value takes about 100 bytes of memory.
func parseCharge(b *budget, a []reflect.Value) {
	text, ok := stringOf(a[0])
	if !ok {
		return
	}
	values := strings.Count(text, "- ")
	for _, sign := range "\n,:[{?" {
		values += strings.Count(text, string(sign))
	}
	b.charge(len(text)/2 + 4*values)
}

// tomlCharge charges for parsing TOML. The parser stores the full path of every key.
func tomlCharge(b *budget, a []reflect.Value) {
	parseCharge(b, a)
	text, depth, longest, begun := a[0].String(), 0, 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			if depth++; depth > limits.TOMLNesting {
				panic(limit(fmt.Sprintf("a text in TOML nests lists or tables more than %d deep", limits.TOMLNesting)))
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '=', '\n', ',':
			longest, begun = max(longest, i-begun), i+1
		}
	}
	b.charge(times(strings.Count(text, "=")+strings.Count(text, "."), longest*(limits.TOMLNesting/10)/bytesPerStep))
}

// times returns the product of a and b, capped at the largest int.
func times[A, B int | int64](a A, b B) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if int64(a) > math.MaxInt32 || int64(b) > math.MaxInt32 {
		return math.MaxInt
	}
	return int(a) * int(b)
}

// parts returns the number of pieces into which a separator splits a string. An empty separator
// yields one piece for each character.
func parts(a []reflect.Value) int { return strings.Count(a[1].String(), a[0].String()) + 1 }
func indentCharge(b *budget, a []reflect.Value) {
	text := a[1].String()
	b.text(limits.Sum(times(a[0].Int(), strings.Count(text, "\n")+1), len(text)))
}

func replaceCharge(b *budget, a []reflect.Value) {
	found := strings.Count(a[2].String(), a[0].String())
	b.text(limits.Sum(times(found, a[1].Len()), a[2].Len()))
}

// wrapCharge charges for the text and its separators. It assumes a separator for every space and
// for every full line.
func wrapCharge(b *budget, a []reflect.Value) {
	if len(a) == 2 {
		b.text(2 * a[1].Len())
		return
	}
	width := max(a[0].Int(), 1)
	b.text(limits.Sum(times(int64(a[2].Len())/width+int64(strings.Count(a[2].String(), " "))+1, a[1].Len()), a[2].Len()))
}

// between returns the number of integers from low to high in increments of step.
func between(low, high, step int64) int {
	const most = 1 << 40
	if step == 0 {
		return 0
	}
	if max(low, high) > most || min(low, high) < -most || step > most || step < -most {
		return math.MaxInt
	}
	return int(max((high-low)/step, (low-high)/step) + 1)
}

func seqCharge(b *budget, a []reflect.Value) {
	var n []int64
	longest := 0
	for i := range a[0].Len() {
		n = append(n, a[0].Index(i).Int())
		longest = max(longest, len(strconv.FormatInt(n[i], 10))+1)
	}
	count := 0
	switch len(n) {
	case 1:
		count = between(1, n[0], 1)
	case 2:
		count = between(n[0], n[1], 1)
	case 3:
		count = between(n[0], n[2], n[1])
	}
	b.items(count)
	b.text(times(count, longest))
}

// printfCharge charges for the output of printf. It assumes that each verb prints the longest
// argument, padded to the width or precision of the verb. Quoted strings and hexadecimal digits
// take up to four bytes for each byte.
func printfCharge(b *budget, a []reflect.Value) {
	format, longest := a[0].String(), 0
	for i := range a[1].Len() {
		longest = max(longest, b.lengthOf(a[1].Index(i)))
	}
	const widest = 1_000_000 // maximum width in package fmt
	size := len(format)
	for _, verb := range strings.Split(format, "%")[1:] {
		verb = verb[:min(len(verb), 64)]
		if size += longest; strings.ContainsAny(verb, "qxXU#") {
			size += 3 * longest
		}
		for _, number := range numbers().FindAllString(verb, -1) {
			n, err := strconv.Atoi(number)
			if number == "*" || err != nil {
				n = widest
			}
			size += min(n, widest)
		}
		if size > limits.ChartText {
			break
		}
	}
	b.text(size)
}

var numbers = lazy.Regexp(`\d+|\*`)

// lengthOf estimates the printed length of a value.
func (b *budget) lengthOf(v reflect.Value) int {
	if text, ok := stringOf(v); ok {
		return len(text)
	}
	before := b.Spent
	b.deep(v, 0)
	return (b.Spent - before) * bytesPerStep
}

// listLen returns the length of a list, or 0 for any other value.
func listLen(v reflect.Value) int {
	v = concrete(v)
	if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
		return 0
	}
	return v.Len()
}

// pairsCharge charges for functions that compare all pairs of elements.
func pairsCharge(b *budget, a []reflect.Value) {
	before, n := b.Spent, 0
	for _, arg := range a {
		n += listLen(arg)
		b.deep(arg, 0)
	}
	b.charge(times(n, b.Spent-before) / 8)
}

// listsCharge charges for functions that copy lists or split one list into several.
func listsCharge(b *budget, a []reflect.Value) {
	n := 0
	for _, arg := range a {
		n += 2 * listLen(arg)
		for i := range listLen(arg) {
			n += listLen(concrete(arg).Index(i))
		}
	}
	b.items(n)
}

// digitsCharge charges for a product. It may have as many digits as all factors together.
func digitsCharge(b *budget, a []reflect.Value) {
	n := a[len(a)-1].Len()
	b.charge(times(n, n+100))
}

// concrete returns the value inside an interface.
func concrete(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// regexCharge charges for finding one match. A match is no longer than the string.
func regexCharge(b *budget, a []reflect.Value) {
	pattern, text := a[0].String(), a[1].String()
	size, groups := program(pattern)
	b.charge(len(pattern) + size + size*(len(text)+1)/bytesPerStep*(bytesPerStep+2*groups)/bytesPerStep)
}

// regexListCharge charges for finding all matches.
func regexListCharge(b *budget, a []reflect.Value) {
	regexCharge(b, a)
	b.items(a[1].Len() + 1)
}

// program returns the number of instructions and groups of a regular expression. Both are 0 for an
// invalid expression.
func program(pattern string) (size, groups int) {
	if len(pattern) > limits.RegexpBytes {
		panic(limit(fmt.Sprintf("a regular expression has %d bytes, more than the limit of %d", len(pattern), limits.RegexpBytes)))
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, 0
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, 0
	}
	if len(prog.Inst) > limits.RegexpProgram {
		panic(limit(fmt.Sprintf("a regular expression makes %d instructions, more than the limit of %d", len(prog.Inst), limits.RegexpProgram)))
	}
	return len(prog.Inst), prog.NumCap / 2
}

// regexReplaceCharge charges for the matches and their replacements. Each $ in a replacement may
// insert a whole match.
func regexReplaceCharge(b *budget, a []reflect.Value) {
	regexListCharge(b, a)
	re, err := regexp.Compile(a[0].String())
	if err != nil {
		return
	}
	text, with := a[1].String(), a[2].String()
	found := len(re.FindAllStringIndex(text, -1))
	b.text(limits.Sum(limits.Sum(len(text), times(found, len(with))), times(strings.Count(with, "$"), len(text))))
}

// bytesPerStep is the number of bytes of text that cost one step.
const bytesPerStep = 32

// budget counts steps and enforces the limit on them.
type budget struct{ limits.Counter }

// limit is the error for an exceeded limit. A template function panics with it. Executing the
// template turns the panic into an error.
type limit string

func (l limit) Error() string { return string(l) }

// limitAt returns a problem for a limit of schedlint that Helm may not have.
func limitAt(file, format string, args ...any) *Problem {
	return &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...), Refused: true}
}

// take is like charge, but returns an error instead of panicking.
func (b *budget) take(n int) error {
	if n < 0 || !b.Add(n) {
		b.Spent = b.Most
		return limit(fmt.Sprintf("rendering is limited to %d steps", b.Most))
	}
	return nil
}

// charge adds n steps. If the budget has fewer than n steps left, charge panics with an error of
// type limit.
func (b *budget) charge(n int) {
	if err := b.take(n); err != nil {
		panic(err)
	}
}

// text charges for creating a string of n bytes.
func (b *budget) text(n int) {
	fits(n)
	b.charge(n/bytesPerStep + 1)
}

// fits panics if n bytes exceed the maximum length of a string.
func fits(n int) {
	if n > limits.ChartText {
		panic(limit(fmt.Sprintf("a text of %d bytes exceeds the limit of %d", n, limits.ChartText)))
	}
}

// items charges for a list of n items of about 16 bytes each.
func (b *budget) items(n int) { b.charge(n/2 + 1) }

// errCyclic is the error for a value that contains itself. Helm would print it until the stack
// overflows.
const errCyclic = limit("a value is nested without a limit, as it contains itself")

// printed charges for printing an entire value. It panics if the value contains itself.
func (b *budget) printed(v reflect.Value) {
	if !b.finite(v) {
		panic(errCyclic)
	}
}

// marshalled charges for encoding a value with encoding/json. If the value contains itself,
// encoding/json prints a thousand levels and then returns an error.
func (b *budget) marshalled(v reflect.Value) {
	before := b.Spent
	if !b.finite(v) {
		b.charge(times(b.Spent-before, 1+1000/manyLevels))
	}
}

// finite charges for everything in a value and reports whether the value is free of cycles.
func (b *budget) finite(v reflect.Value) bool {
	before := b.Spent
	ok := b.deep(v, 0)
	if b.Spent-before > limits.ChartPrinted {
		panic(limit(fmt.Sprintf("printing a value takes more than %d steps", limits.ChartPrinted)))
	}
	return ok
}

// deep charges for everything in a value. A part that occurs twice is charged twice, because it is
// printed twice. deep returns false if the value contains itself.
func (b *budget) deep(v reflect.Value, depth int) bool {
	if depth > limits.ChartNesting {
		panic(limit(fmt.Sprintf("a value is nested more than %d deep", limits.ChartNesting)))
	}
	b.charge(1 + depth/16) // printed with indentation
	switch v.Kind() {
	case reflect.String:
		b.charge(v.Len() / bytesPerStep)
	case reflect.Interface, reflect.Pointer:
		if v.Type() == reflect.TypeFor[*partialFiles]() {
			panic(limit("a template reads all files of the chart, and some are links out of the repository, which are not followed"))
		}
		if !v.IsNil() {
			return b.deep(v.Elem(), depth+1)
		}
	case reflect.Map:
		if depth >= manyLevels && depth < manyLevels+4 && b.cyclic(v, map[container]bool{}) { // a map in a list is 4 levels deeper
			return false
		}
		for at := v.MapRange(); at.Next(); {
			if !b.deep(at.Key(), depth+1) || !b.deep(at.Value(), depth+1) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b.charge(v.Len() / bytesPerStep)
			break
		}
		for i := range v.Len() {
			if !b.deep(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !b.deep(v.Field(i), depth+1) {
				return false
			}
		}
	}
	return true
}

// manyLevels is the depth at which deep begins to look for cycles.
const manyLevels = 200

// cyclic reports whether a value contains a map or list that contains itself. In the map open, true
// marks a container around v, and false marks a container without a cycle.
func (b *budget) cyclic(v reflect.Value, open map[container]bool) bool {
	b.charge(1)
	v = concrete(v)
	if k := v.Kind(); k != reflect.Map && k != reflect.Slice {
		return false
	}
	key := container{v.UnsafePointer(), v.Len()}
	if around, seen := open[key]; seen {
		return around
	}
	open[key] = true
	if v.Kind() == reflect.Map {
		for at := v.MapRange(); at.Next(); {
			if b.cyclic(at.Value(), open) {
				return true
			}
		}
	} else {
		for i := range v.Len() {
			if b.cyclic(v.Index(i), open) {
				return true
			}
		}
	}
	open[key] = false
	return false
}

// shallow charges for the length of a string, list or map, but not for its elements.
func (b *budget) shallow(v reflect.Value) {
	switch v = concrete(v); v.Kind() {
	case reflect.String:
		b.text(v.Len())
	case reflect.Map, reflect.Slice:
		b.charge(v.Len()/4 + 1)
	}
}
