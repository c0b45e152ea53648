package rego

import (
	"fmt"
	"math/big"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Limits for a custom rule. They limit steps and sizes, not times. A rule therefore exceeds them on
// every machine or on none.
const (
	// maxSteps is a rule's step budget for a run, across all contexts. A rule that visits each of
	// its facts once takes 10 to 300 steps per fact. The budget is enough to visit 15,000 facts, or
	// to compare 700 facts with each other.
	maxSteps = 5_000_000
	// maxText limits the total length of the strings in a value, in bytes. maxItems limits the
	// total number of members at all levels.
	maxText  = 1 << 20
	maxItems = 1_000_000
	// maxDigits is the maximum number of digits in a number, and the maximum size of its exponent.
	maxDigits = 1000
	// maxDepth is the maximum nesting depth of a value.
	maxDepth = 1000
	// maxCompared is the maximum number of members in values that are compared. OPA uses up to a
	// kilobyte of stack per member, and a stack overflow would crash the process.
	maxCompared = 100_000
	// textStep is the number of string bytes that cost one step. walked is the number of members
	// that cost one step if a function only visits them.
	textStep, walked = 64, 8
)

// maxStack is the maximum number of bytes that a rule may add to the process's stacks. Go crashes
// the process if a stack reaches 1 GB. The limit is far lower, because Go doubles a full stack.
const maxStack = 200 << 20

// meter counts the cost of evaluating a rule. It implements OPA's tracer and counts each event as a
// step.
type meter struct {
	spent, limit int64
	at           *ast.Location // last call or expression
	// stop is set by another goroutine to end the evaluation at its next step.
	stop atomic.Pointer[string]
	// patterns caches the instruction counts of compiled regular expressions, keyed by pattern.
	patterns map[string]int64
	// stack is the total size of all stacks before the evaluation.
	stack  uint64
	sample []metrics.Sample
	// heap returns the total size of the process's heap objects. Tests replace this function.
	heap func() uint64
}

// newMeter returns a meter that starts with the steps already spent in earlier contexts.
func newMeter(spent, limit int64) *meter {
	m := &meter{
		spent: spent, limit: limit, patterns: map[string]int64{}, heap: heap,
		sample: []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}},
	}
	m.stack = m.stacks()
	return m
}

// stacks returns the total size of all stacks in bytes.
func (m *meter) stacks() uint64 {
	metrics.Read(m.sample)
	return m.sample[0].Value.Uint64()
}

var _ topdown.QueryTracer = (*meter)(nil)

// Enabled implements topdown.QueryTracer.
func (m *meter) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (m *meter) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// stackEvery is the number of steps between stack checks.
const stackEvery = 4096

// TraceEvent counts a step.
func (m *meter) TraceEvent(e topdown.Event) {
	if e.Location != nil {
		m.at = e.Location
	}
	m.charge(1)
	if e.Op == topdown.UnifyOp {
		m.compare(e.Node)
	}
	if m.spent%stackEvery == 0 && m.stacks() > m.stack+maxStack {
		m.refuse("compares values with too many members")
	}
	if why := m.stop.Load(); why != nil {
		m.refuse("%s", *why)
	}
}

// compare charges for comparing two arrays, objects or sets. OPA compares all their members in a
// single step.
func (m *meter) compare(node ast.Node) {
	expr, ok := node.(*ast.Expr)
	if !ok {
		return
	}
	terms, ok := expr.Terms.([]*ast.Term)
	if !ok || len(terms) != 3 || !composite(terms[1]) || !composite(terms[2]) {
		return
	}
	w := tour{meter: m, limit: maxCompared, verb: "compares"}
	w.term(terms[1], 0)
	m.charge(w.items / walked) // comparing the members costs as much again as visiting them
}

// composite reports whether a term is an array, object or set without variables.
func composite(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object, ast.Set:
		return t.IsGround()
	}
	return false
}

// charge adds steps to the cost and ends the evaluation if the budget is used up.
func (m *meter) charge(steps int64) {
	if m.spent += steps; m.spent > m.limit {
		m.refuse("exceeds the budget of %d evaluation steps; let it visit each fact of its own list once", m.limit)
	}
}

// refuse ends the evaluation by panicking with a refusal. The function isolate recovers the panic.
func (m *meter) refuse(format string, args ...any) {
	panic(refusal{at: m.at, what: fmt.Sprintf(format, args...)})
}

// bound describes the cost of calling a built-in function.
type bound struct {
	arity int
	// reads returns the size of an argument, excluding the parts that the function does not read.
	reads func(*meter, *ast.Term) size
	// makes returns an upper bound on the size of the result and of intermediate values. It is nil
	// if these are never much larger than the arguments.
	makes func(*meter, []*ast.Term) size
	// work returns the cost of the call in steps, not counting the cost of reading the arguments.
	// It may be nil.
	work func(*meter, []*ast.Term) int64
}

// bounds has an entry for every function that rules may call, with two exceptions: functions that
// unify, and functions that the compiler removes. Functions that compare or print values visit all
// members.
var bounds = sync.OnceValue(func() map[string]bound {
	none, outer, whole := (*meter).nothing, (*meter).outer, (*meter).whole
	all := map[string]bound{
		"concat":                   {2, outer, joined, nil},
		"replace":                  {3, outer, replaced, nil},
		"strings.replace_n":        {2, whole, replacedAll, nil},
		"regex.replace":            {3, outer, replacedPattern, matching(1, 0)},
		"sprintf":                  {2, whole, printed, nil},
		"internal.template_string": {1, whole, written, nil},
		"json.marshal":             {1, whole, marshalled, nil},
		"split":                    {2, outer, parts, nil},
		"strings.split_n":          {3, outer, parts, nil},
		"indexof_n":                {2, outer, parts, product},
		"array.concat":             {2, outer, added, nil},
		"array.flatten":            {1, outer, flattened, nil},
		"object.union":             {2, whole, added, nil},
		"object.union_n":           {1, whole, flattened, nil},
		"union":                    {1, whole, flattened, nil},
		"numbers.range":            {2, outer, counted, nil},
		"product":                  {1, whole, nil, multiplied},
		"json.unmarshal":           {1, outer, nil, parsed},
		"yaml.unmarshal":           {1, outer, nil, plainYAML},
		"yaml.is_valid":            {1, outer, nil, plainYAML},
		"yaml.marshal":             {1, whole, indented, nil},
		"graph.reachable":          {2, whole, nil, reaching},
		"graph.reachable_paths":    {2, whole, nil, ways},
		"numbers.range_step":       {3, outer, stepped, nil},
		"bits.lsh":                 {2, outer, nil, shifted},
		"time.parse_ns":            {2, outer, nil, zoneless},

		"regex.find_all_string_submatch_n": {3, outer, submatches, matching(0, 1)},
		"regex.find_n":                     {3, outer, nil, matching(0, 1)},
		"regex.is_valid":                   {1, outer, nil, matching(0, 0)},
		"regex.match":                      {2, outer, nil, matching(0, 1)},
		"regex.split":                      {2, outer, nil, matching(0, 1)},
		"glob.match":                       {3, outer, nil, globbing},
		"internal.member_2":                {2, outer, nil, searching(0)},
		"internal.member_3":                {3, outer, nil, searching(1)},
		"indexof":                          {2, outer, nil, product},
		"strings.any_prefix_match":         {2, whole, nil, product},
		"strings.any_suffix_match":         {2, whole, nil, product},
	}
	for name := range strings.FieldsSeq("time.format time.date time.clock time.weekday") {
		all[name] = bound{1, whole, nil, inUTC}
	}
	all["time.add_date"] = bound{4, whole, nil, inUTC}
	all["time.diff"] = bound{2, whole, nil, inUTC}
	for _, group := range []struct {
		reads func(*meter, *ast.Term) size
		arity int
		names string
	}{
		{none, 1, "count is_array is_boolean is_null is_number is_object is_set is_string type_name walk"},
		{none, 3, "object.get"},
		{outer, 1, "abs ceil floor round to_number upper lower trim_space strings.reverse glob.quote_meta array.reverse " +
			"object.keys semver.is_valid units.parse units.parse_bytes base64.encode base64.decode base64.is_valid " +
			"base64url.encode base64url.encode_no_pad base64url.decode hex.encode hex.decode urlquery.encode urlquery.decode " +
			"urlquery.decode_object uri.parse uri.is_valid json.is_valid crypto.md5 crypto.sha1 crypto.sha256 bits.negate " +
			"net.cidr_is_valid time.parse_rfc3339_ns time.parse_duration_ns uuid.parse"},
		{outer, 2, "div mul plus rem format_int contains endswith startswith strings.count trim trim_left trim_prefix " +
			"trim_right trim_suffix object.filter object.remove semver.compare bits.and bits.or bits.xor bits.rsh " +
			"net.cidr_contains net.cidr_intersects"},
		{outer, 3, "array.slice substring"},
		{whole, 1, "max min sum sort intersection urlquery.encode_object"},
		{whole, 2, "and or minus equal gt gte lt lte neq json.filter json.remove object.subset"},
	} {
		for name := range strings.FieldsSeq(group.names) {
			all[name] = bound{arity: group.arity, reads: group.reads}
		}
	}
	return all
})

// size is the size of a value: the total length of its strings in bytes, and the number of its
// members.
type size struct{ text, items int64 }

func (s size) plus(o size) size { return size{s.text + o.text, s.items + o.items} }

// steps returns the cost of reading or building a value of size s.
func (s size) steps() int64 { return s.text/textStep + s.items }

// nothing is the size function for arguments that a built-in function does not read. It returns
// zero.
func (m *meter) nothing(*ast.Term) size { return size{} }

// outer returns the size of a value's top level, excluding nested members.
func (m *meter) outer(t *ast.Term) size {
	switch v := t.Value.(type) {
	case ast.String:
		return size{text: int64(len(v))}
	case ast.Number:
		m.number(v)
	case *ast.Array:
		return size{items: int64(v.Len())}
	case ast.Object:
		return size{items: int64(v.Len())}
	case ast.Set:
		return size{items: int64(v.Len())}
	}
	return size{}
}

// whole returns the size of a value with all nested members. A member that occurs several times
// counts each time.
func (m *meter) whole(t *ast.Term) size {
	w := tour{meter: m, limit: maxItems, verb: "goes through"}
	w.term(t, 0)
	return w.size
}

// tour visits and measures all members of a value.
type tour struct {
	*meter
	size
	limit int64
	verb  string // what the rule does with the value, for use in messages
}

func (w *tour) term(t *ast.Term, depth int) {
	if depth > maxDepth {
		w.refuse("makes a value that is nested more than %d levels deep", maxDepth)
	}
	inner := func(t *ast.Term) {
		if w.items++; w.items > w.limit {
			w.refuse("%s a value with more than %d members", w.verb, w.limit)
		}
		w.term(t, depth+1)
	}
	switch v := t.Value.(type) {
	case ast.String:
		w.text += int64(len(v))
	case ast.Number:
		w.number(v)
	case *ast.Array:
		v.Foreach(inner)
	case ast.Set:
		v.Foreach(inner)
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) {
			inner(key)
			inner(value)
		})
	}
}

// number rejects numbers such as 1e1000000000. Calculating with such a number could take too much
// time or memory.
func (m *meter) number(n ast.Number) {
	if magnitude(string(n)) > maxDigits {
		m.refuse("uses a number with more than %d digits", maxDigits)
	}
}

// magnitude returns an upper bound on the number of digits before or after the decimal point when a
// number is written in full.
func magnitude(n string) int64 {
	at := strings.IndexAny(n, "eE")
	if at < 0 {
		return int64(len(n))
	}
	exponent, err := strconv.ParseInt(strings.TrimPrefix(n[at+1:], "+"), 10, 32)
	if err != nil {
		return 1 << 32 // the exponent is a valid number but does not fit, so it is too large
	}
	return int64(at) + max(exponent, -exponent)
}

// The following functions handle calls whose cost does not depend only on the sizes of the
// arguments. OPA's graph searches may visit a vertex once for every path to it. YAML aliases can
// repeat a value many times. Some of the functions also reject time zones, because results would
// depend on the machine.

// vertices returns the members of an array or set, which graph functions use as vertices.
func vertices(t *ast.Term) []*ast.Term {
	switch t.Value.(type) {
	case *ast.Array, ast.Set:
		return members(t)
	}
	return nil
}

// reaching charges for graph.reachable. OPA may queue a vertex once for every edge to it. In a
// graph with layers, the work therefore multiplies from layer to layer.
func reaching(m *meter, args []*ast.Term) int64 {
	graph, ok := args[0].Value.(ast.Object)
	if !ok {
		return 0
	}
	reached := ast.NewSet()
	for queue := vertices(args[1]); len(queue) > 0; queue = queue[1:] {
		m.charge(1)
		edges := graph.Get(queue[0])
		if edges == nil {
			continue
		}
		for _, next := range vertices(edges) {
			m.charge(1)
			if !reached.Contains(next) {
				queue = append(queue, next)
			}
		}
		reached.Add(queue[0])
	}
	return 0
}

// ways charges for graph.reachable_paths and checks the size of the result. OPA copies a path for
// each vertex that it adds to the path.
func ways(m *meter, args []*ast.Term) int64 {
	graph, ok := args[0].Value.(ast.Object)
	if !ok {
		return 0
	}
	const copying = 4 // steps per vertex of a path
	var made int64
	var follow func(vertex *ast.Term, way []*ast.Term)
	follow = func(vertex *ast.Term, way []*ast.Term) {
		m.charge(copying * int64(len(way)+1))
		var next []*ast.Term
		edges := graph.Get(vertex)
		if edges != nil {
			way, next = append(way[:len(way):len(way)], vertex), vertices(edges)
		}
		if len(next) == 0 {
			made += int64(len(way)) + 1
			m.fits("graph.reachable_paths", size{items: made})
		}
		for _, n := range next {
			if !slices.ContainsFunc(way, n.Equal) {
				follow(n, way)
				continue
			}
			made += int64(len(way)) + 1
			m.fits("graph.reachable_paths", size{items: made})
		}
	}
	for _, vertex := range vertices(args[1]) {
		follow(vertex, nil)
	}
	return 0
}

// aliasBefore lists characters after which a * does not start a YAML alias.
const aliasBefore = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\"'/.*_)(=\\<>+$^%"

// plainYAML returns the cost of parsing YAML. It rejects aliases, because a few lines of them can
// expand to an unlimited amount of text. The parser compares each key in a mapping with every other
// key, which takes 40 s for 100,000 keys. Every key begins or ends with ":", "?" or ",". plainYAML
// counts these characters to get an upper bound on the number of keys.
func plainYAML(m *meter, args []*ast.Term) int64 {
	s := text(args[0])
	for i := range len(s) {
		if s[i] == '*' && (i == 0 || !strings.ContainsRune(aliasBefore, rune(s[i-1]))) {
			m.refuse("reads YAML with aliases (*name), which rules may not; write the values out")
		}
	}
	const compared = 32 // keys per step
	keys := int64(strings.Count(s, ":") + strings.Count(s, "?") + strings.Count(s, ","))
	return int64(len(s)) + keys*keys/compared
}

// indented returns an upper bound on the size of a yaml.marshal result. YAML writes every member,
// and every line of a string, on its own indented line.
func indented(m *meter, args []*ast.Term) size {
	const perLevel, punctuation = 4, 8
	lines, depth := lines(args[0], 1)
	return size{text: 2*length(args[0]) + lines*(perLevel*depth+punctuation)}
}

// lines returns a value's nesting depth and an upper bound on how many lines of YAML it takes.
func lines(t *ast.Term, depth int64) (n, deepest int64) {
	count := func(t *ast.Term) {
		more, below := lines(t, depth+1)
		n, deepest = n+more, max(deepest, below)
	}
	n, deepest = 1, depth
	if s, ok := t.Value.(ast.String); ok {
		return 1 + int64(strings.Count(string(s), "\n")), depth
	}
	for _, member := range members(t) {
		count(member)
	}
	if object, ok := t.Value.(ast.Object); ok {
		object.Foreach(func(key, _ *ast.Term) { count(key) })
	}
	return n, deepest
}

// inUTC rejects all time zones except UTC, because others depend on files on the machine.
func inUTC(m *meter, args []*ast.Term) int64 {
	for _, arg := range args {
		at, ok := arg.Value.(*ast.Array)
		if !ok || at.Len() < 2 {
			continue
		}
		if zone := text(at.Elem(1)); zone != "" && zone != "UTC" {
			m.refuse("uses the time zone %s, which not every machine knows; use UTC", strconv.Quote(cut(zone)))
		}
	}
	return 0
}

// zoneless rejects layouts with a time zone name, because its meaning depends on the machine.
func zoneless(m *meter, args []*ast.Term) int64 {
	named := []string{"UnixDate", "RFC822", "RFC850", "RFC1123"}
	if layout := text(args[0]); strings.Contains(layout, "MST") || slices.Contains(named, layout) {
		m.refuse("parses the name of a time zone, which means different times on different machines; use a numeric offset as in RFC3339")
	}
	return 0
}

// shifted rejects a bits.lsh call if its result would have too many digits.
func shifted(m *meter, args []*ast.Term) int64 {
	const perDigit = 3 // a decimal digit takes at least 3 bits
	if n, ok := integer(args[1]); ok && n.Cmp(big.NewInt(maxDigits*perDigit)) > 0 {
		m.refuse("makes a number with more than %d digits", maxDigits)
	}
	return 0
}

// stepped returns the size of a numbers.range_step result.
func stepped(m *meter, args []*ast.Term) size {
	made := counted(m, args)
	if by, ok := integer(args[2]); ok && by.Sign() > 0 && made.items > 0 && by.IsInt64() {
		made.items = (made.items-1)/by.Int64() + 1
	}
	return made
}
