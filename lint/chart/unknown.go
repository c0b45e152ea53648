package chart

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
)

// UnknownValue stands for a value that is not known, such as one of a Secret. A template may print
// it. The output then holds a variable, which every later step takes for unknown. A template that
// uses it in any other way fails, because it may do something else with the real value.
const UnknownValue = "${schedlint_unknown_value}"

// decides is the error of a template whose output depends on an unknown value.
func decides(what string) error {
	return failure(what + " depends on a value that is not known")
}

// Decide returns an error for a value that decides what a template does, if it is unknown.
func (t *trace) Decide(what string, v reflect.Value) error {
	if isUnknown(v) {
		return decides(what)
	}
	return nil
}

// isUnknown reports whether a value is a string with an unknown part.
func isUnknown(v reflect.Value) bool {
	text, ok := stringOf(v)
	return ok && strings.Contains(text, UnknownValue)
}

// opaque completes a function call with an unknown argument. A string that was computed from an
// unknown one is unknown. A function that returns something else decides by it, unless it only puts
// its arguments into a container or chooses one of them.
func opaque(name string, args []reflect.Value, result reflect.Value) reflect.Value {
	direct, inside := false, false
	for _, arg := range args {
		direct = direct || isUnknown(arg)
		if arg.Kind() == reflect.Slice { // variadic arguments, or a list
			for i := range arg.Len() {
				direct = direct || isUnknown(arg.Index(i))
			}
		}
		inside = inside || slices.Contains(comparing, name) && strings.Contains(fmt.Sprint(arg), UnknownValue)
	}
	switch {
	case !direct && !inside, slices.Contains(carrying, name):
	case inside, concrete(result).Kind() != reflect.String:
		panic(decides(name))
	case !isUnknown(result):
		return reflect.ValueOf(UnknownValue).Convert(result.Type())
	}
	return result
}

// carrying lists functions that pass their arguments on. comparing lists functions that look
// at the items of their arguments.
var (
	carrying = strings.Fields(`dict set list tuple append mustAppend push mustPush prepend mustPrepend concat first mustFirst last mustLast
		initial mustInitial rest mustRest reverse mustReverse slice mustSlice default coalesce ternary required`)
	comparing = strings.Fields("has mustHas deepEqual uniq mustUniq without mustWithout sortAlpha compact mustCompact")
)

// conditional returns an error if an unknown value may enable or disable a dependency.
func (l *loader) conditional(c *helm.Chart) error {
	for _, name := range l.in.Unknown {
		for _, d := range c.Metadata.Dependencies {
			for condition := range strings.SplitSeq(d.Condition, ",") {
				if condition != "" && strings.HasSuffix("."+name, "."+strings.TrimSpace(condition)) {
					return l.at(chartFile, "dependencies", "%v", decides("the condition of dependency "+d.Name))
				}
			}
		}
		if strings.Contains("."+name, ".tags.") {
			return l.at(chartFile, "dependencies", "%v", decides("what tags enable"))
		}
	}
	for _, d := range c.Dependencies() {
		if err := l.conditional(d); err != nil {
			return err
		}
	}
	return nil
}
