package chart

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
)

// wrapped are functions that charge for what they are given before they run, refuse to
// make what is too large, and tell the trace about texts that they make.
func (e *engine) wrapped(all map[string]any) map[string]any {
	out := map[string]any{}
	for name, f := range all {
		out[name] = e.wrap(name, reflect.ValueOf(f))
	}
	return out
}

// wrap keeps the type of a function: arguments are converted by it.
func (e *engine) wrap(name string, f reflect.Value) any {
	kind := f.Type()
	size, base := sizes[name], fixed(name)
	deep := slices.Contains(deepFunctions, name)
	run := f.Call
	if kind.IsVariadic() {
		run = f.CallSlice
	}
	return reflect.MakeFunc(kind, func(args []reflect.Value) []reflect.Value {
		e.budget.charge(base)
		for _, arg := range args {
			if deep {
				e.budget.deep(arg, 0)
			} else {
				e.budget.shallow(arg)
			}
		}
		if size != nil {
			e.budget.text(size(e, args))
		}
		results := run(args)
		e.budget.shallow(results[0])
		e.trace.called(name, args, results[0])
		return results
	}).Interface()
}

// fixed is what a call of a function takes whatever it is given, in steps.
func fixed(name string) int {
	switch {
	case strings.HasPrefix(name, "semver"), strings.HasSuffix(name, "AES"), strings.HasPrefix(name, "url"):
		return 50
	case slices.Contains(decimals, name):
		return 500
	}
	return 1
}

// decimals compute with numbers of any length.
var decimals = strings.Fields("add1f addf subf divf mulf")

// parsedSize charges for functions that parse a text, which is slow, and gives how long
// it is.
func parsedSize(e *engine, a []reflect.Value) int {
	text := concrete(a[0])
	if text.Kind() != reflect.String {
		return 0
	}
	e.budget.charge(text.Len() / 2)
	return text.Len()
}

// deepFunctions look at everything in their arguments.
var deepFunctions = strings.Fields(`toYaml toYamlPretty toJson toPrettyJson toRawJson mustToJson mustToPrettyJson mustToRawJson
	toToml toString toStrings quote squote cat print printf println html js urlquery deepCopy mustDeepCopy
	merge mustMerge mergeOverwrite mustMergeOverwrite deepEqual has mustHas uniq mustUniq without mustWithout
	join sortAlpha urlJoin`)

// sizes are upper bounds for what functions make, in bytes, from their arguments. A
// function that is not here makes nothing much larger than what it is given.
var sizes = map[string]func(*engine, []reflect.Value) int{
	"fromYaml":      parsedSize,
	"fromYamlArray": parsedSize,
	"fromToml":      parsedSize,
	"fromJson":      parsedSize,
	"fromJsonArray": parsedSize,
	"mustFromJson":  parsedSize,
	"repeat":        func(_ *engine, a []reflect.Value) int { return times(a[0].Int(), a[1].Len()) },
	"indent":        indentSize,
	"nindent":       indentSize,
	"replace":       replaceSize,
	"join":          joinSize,
	"until":         func(_ *engine, a []reflect.Value) int { return rangeSize(0, a[0].Int(), 1) },
	"wrap":          wrapSize,
	"wrapWith":      wrapSize,
	"untilStep": func(_ *engine, a []reflect.Value) int {
		return rangeSize(a[0].Int(), a[1].Int(), a[2].Int())
	},
	"seq":                        seqSize,
	"printf":                     printfSize,
	"chunk":                      chunkSize,
	"mustChunk":                  chunkSize,
	"split":                      func(_ *engine, a []reflect.Value) int { return times(64, a[1].Len()) },
	"splitList":                  func(_ *engine, a []reflect.Value) int { return times(16, a[1].Len()) },
	"randAlphaNum":               countSize,
	"randAlpha":                  countSize,
	"randNumeric":                countSize,
	"randAscii":                  countSize,
	"randBytes":                  countSize,
	"uniq":                       square,
	"mustUniq":                   square,
	"without":                    square,
	"mustWithout":                square,
	"concat":                     listsSize,
	"append":                     listsSize,
	"push":                       listsSize,
	"prepend":                    listsSize,
	"mustAppend":                 listsSize,
	"mustPush":                   listsSize,
	"mustPrepend":                listsSize,
	"regexMatch":                 regexSize,
	"regexFind":                  regexSize,
	"regexFindAll":               regexSize,
	"regexSplit":                 regexSize,
	"mustRegexMatch":             regexSize,
	"mustRegexFind":              regexSize,
	"mustRegexFindAll":           regexSize,
	"mustRegexSplit":             regexSize,
	"regexReplaceAll":            regexReplaceSize,
	"mustRegexReplaceAll":        regexReplaceSize,
	"regexReplaceAllLiteral":     regexReplaceSize,
	"mustRegexReplaceAllLiteral": regexReplaceSize,
}

// times is a product that stays within what an int can hold.
func times[A, B int | int64](a A, b B) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if int64(a) > math.MaxInt32 || int64(b) > math.MaxInt32 {
		return math.MaxInt
	}
	return int(a) * int(b)
}

func countSize(_ *engine, a []reflect.Value) int { return times(a[0].Int(), 2) }

func indentSize(_ *engine, a []reflect.Value) int {
	text := a[1].String()
	return times(a[0].Int(), strings.Count(text, "\n")+1) + len(text)
}

func replaceSize(_ *engine, a []reflect.Value) int {
	found := strings.Count(a[2].String(), a[0].String())
	return times(found, a[1].Len()) + a[2].Len()
}

func joinSize(_ *engine, a []reflect.Value) int {
	list := concrete(a[1])
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return 0
	}
	return times(list.Len(), a[0].Len())
}

// wrapSize: at worst the separator follows each character.
func wrapSize(_ *engine, a []reflect.Value) int {
	if len(a) == 2 {
		return 2 * a[1].Len()
	}
	width := max(a[0].Int(), 1)
	return times(int64(a[2].Len())/width+int64(strings.Count(a[2].String(), " "))+1, a[1].Len()) + a[2].Len()
}

// rangeSize is for a list of the numbers from low to high.
func rangeSize(low, high, step int64) int {
	const most = 1 << 40
	if step == 0 {
		return 0
	}
	if max(low, high) > most || min(low, high) < -most || step > most || step < -most {
		return math.MaxInt
	}
	return times(max((high-low)/step, (low-high)/step)+1, 8)
}

func seqSize(_ *engine, a []reflect.Value) int {
	var n []int64
	for i := range a[0].Len() {
		n = append(n, a[0].Index(i).Int())
	}
	switch len(n) {
	case 1:
		return rangeSize(1, n[0], 1)
	case 2:
		return rangeSize(n[0], n[1], 1)
	case 3:
		return rangeSize(n[0], n[2], n[1])
	}
	return 0
}

// printfSize: each verb may print the longest argument with its width or precision.
func printfSize(_ *engine, a []reflect.Value) int {
	format, longest := a[0].String(), 0
	for i := range a[1].Len() {
		longest = max(longest, textLen(a[1].Index(i)))
	}
	const widest = 1_000_000 // of package fmt
	size := len(format)
	for _, verb := range strings.Split(format, "%")[1:] {
		size += longest
		for _, number := range numbers().FindAllString(verb[:min(len(verb), 64)], -1) {
			n, err := strconv.Atoi(number)
			if number == "*" || err != nil {
				n = widest
			}
			size += min(n, widest)
		}
		if size > maxText {
			return size
		}
	}
	return size
}

var numbers = lazy.Regexp(`\d+|\*`)

// textLen is the length of a text, and an estimate for anything else.
func textLen(v reflect.Value) int {
	if v = concrete(v); v.Kind() == reflect.String {
		return v.Len()
	}
	return 32
}

func chunkSize(_ *engine, a []reflect.Value) int {
	list := concrete(a[1])
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array || list.Len() == 0 {
		return 0
	}
	return times(max(a[0].Int(), int64(list.Len())), 24)
}

// square is for functions that compare everything with everything.
func square(_ *engine, a []reflect.Value) int {
	n := 0
	for _, arg := range a {
		if arg = concrete(arg); arg.Kind() == reflect.Slice || arg.Kind() == reflect.Array {
			n += arg.Len()
		}
	}
	return times(n, n)
}

// listsSize is for functions that copy lists.
func listsSize(_ *engine, a []reflect.Value) int {
	n := 0
	for _, arg := range a {
		arg = concrete(arg)
		if arg.Kind() != reflect.Slice {
			continue
		}
		n += arg.Len()
		for i := range arg.Len() {
			if inner := concrete(arg.Index(i)); inner.Kind() == reflect.Slice {
				n += inner.Len()
			}
		}
	}
	return times(n, 16)
}

// concrete is what is in an interface.
func concrete(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}
