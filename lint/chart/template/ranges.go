package template

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"text/template/parse"
)

// loop executes range. The pipeline sets its variables to the whole value first, which is
// what the else list sees.
func (x *run) loop(dot reflect.Value, n *parse.RangeNode) flow {
	x.deeper()
	mark := len(x.variables)
	v, _ := indirect(x.pipeline(dot, n.Pipe))
	body := len(x.variables)
	ran := x.each(v, n.Pipe, func(key, item reflect.Value) bool {
		x.step(n)
		x.bind(n.Pipe, body, key, item)
		f := x.list(item, n.List)
		x.variables = x.variables[:body]
		return f != broken
	})
	f := onward
	if !ran {
		f = x.list(dot, n.ElseList)
		if f == broken { // break in else ends this range, and continue the iteration around it
			f = onward
		}
	}
	x.variables = x.variables[:mark]
	x.depth--
	return f
}

// bind sets the variables of range: the item, or the key and the item.
func (x *run) bind(p *parse.PipeNode, top int, key, item reflect.Value) {
	values := []reflect.Value{key, item}
	values = values[2-min(2, len(p.Decl)):]
	for i, v := range values {
		if p.IsAssign {
			x.variables[x.find(p.Decl[i].Ident[0])].value = v
		} else {
			x.variables[top-len(values)+i].value = v
		}
	}
}

// each calls yield for what is in a value until it returns false. It returns whether there
// was anything.
func (x *run) each(v reflect.Value, p *parse.PipeNode, yield func(key, item reflect.Value) bool) (ran bool) {
	var all iter.Seq2[reflect.Value, reflect.Value]
	switch k := v.Kind(); {
	case k == reflect.Invalid:
		return false
	case k == reflect.Slice || k == reflect.Array:
		all = v.Seq2()
	case k == reflect.Map:
		x.steps(v.Len())
		all = sortedEntries(v)
	case class(k) == ints || class(k) == uints || k == reflect.Func && v.Type().CanSeq(): // without keys
		if len(p.Decl) > 1 {
			x.fail("can't use %v to iterate over more than one variable", v)
		}
		all = func(yield func(key, item reflect.Value) bool) {
			v.Seq()(func(item reflect.Value) bool { return yield(reflect.Value{}, item) })
		}
	case k == reflect.Func && v.Type().CanSeq2():
		all = v.Seq2()
	default:
		x.fail("range can't iterate over %v", v)
	}
	for key, item := range all {
		if v.Kind() == reflect.Func && key.IsValid() && len(p.Decl) < 2 { // the first of two values is the item
			item = key
		}
		if ran = true; !yield(key, item) {
			break
		}
	}
	return ran
}

// sortedEntries is what a map has before the first iteration, which may change it.
func sortedEntries(m reflect.Value) iter.Seq2[reflect.Value, reflect.Value] {
	type entry struct{ key, value reflect.Value }
	all := make([]entry, 0, m.Len())
	for at := m.MapRange(); at.Next(); {
		all = append(all, entry{at.Key(), at.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return compareKeys(a.key, b.key) })
	return func(yield func(key, value reflect.Value) bool) {
		for _, e := range all {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// compareKeys orders keys of a map. Those of different kinds are ordered by kind.
func compareKeys(a, b reflect.Value) int {
	a, b = unpacked(a), unpacked(b)
	if a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch class(a.Kind()) {
	case texts:
		return cmp.Compare(a.String(), b.String())
	case ints:
		return cmp.Compare(a.Int(), b.Int())
	case uints:
		return cmp.Compare(a.Uint(), b.Uint())
	case floats:
		return cmp.Compare(a.Float(), b.Float())
	case truths:
		return cmp.Compare(strconv.FormatBool(a.Bool()), strconv.FormatBool(b.Bool()))
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range min(a.NumField(), b.NumField()) {
			if by := compareKeys(a.Field(i), b.Field(i)); by != 0 {
				return by
			}
		}
	case reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if by := compareKeys(a.Index(i), b.Index(i)); by != 0 {
				return by
			}
		}
	}
	return 0
}
