package rego

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
)

// DefaultDeadline is the default limit on the rules' CPU time.
const DefaultDeadline = 30 * time.Second

// Engine holds loaded rules. It is safe for concurrent use.
type Engine struct {
	rules    []*rule // sorted by id
	ids      []string
	packs    []string
	deadline time.Duration
	// steps is the step budget of each custom rule per run.
	steps   int64
	words   message.Catalogue
	modules []*module // of the custom rules, for comparing engines

	// conditions returns the conditions of the built-in rules. The first call computes them.
	conditions func() necessary

	mutex sync.Mutex // guards the rules' compiled programs
	// endless is set when a custom rule keeps running after it was told to stop. Evaluate then
	// skips all further custom rules.
	endless atomic.Bool
}

// Load reads the rules, type-checks the custom rules against the facts schema, and compiles them.
// The returned error lists every problem found.
func Load(opts Options) (*Engine, error) {
	e := &Engine{deadline: cmp.Or(opts.Deadline, DefaultDeadline), steps: maxSteps, words: message.NewCatalogue()}
	own, err := loadOwn(opts)
	if err != nil {
		return nil, err
	}
	builtin, err := loadBuiltin(opts.Rules)
	if err != nil {
		return nil, err
	}
	e.modules = own
	if err := join(replacements(own, builtin)); err != nil {
		return nil, err
	}
	if err := e.addCustom(own, opts.Without != nil); err != nil {
		return nil, err
	}
	for _, r := range builtin {
		if r.pack != "" && !slices.Contains(e.packs, r.pack) {
			e.packs = append(e.packs, r.pack)
		}
		if e.find(r.id) == nil { // not replaced by a custom rule
			e.rules = append(e.rules, r)
		}
	}
	slices.Sort(e.packs)
	if err := e.instances(opts.Instances); err != nil {
		return nil, err
	}
	slices.SortFunc(e.rules, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	for _, r := range e.rules {
		r.off = r.isTemplate() || opts.Off != nil && opts.Off(r.id) ||
			r.instance == nil && r.pack != "" && !slices.Contains(opts.Packs, r.pack)
		if !r.isTemplate() {
			e.ids = append(e.ids, r.id)
		}
	}
	if err := e.parameters(opts.Params, opts.Shared); err != nil {
		return nil, err
	}
	e.conditions = sync.OnceValue(e.bodies)
	return e, e.analysePacks()
}

// replacements checks that every custom rule with a built-in rule's id declares custom.replaces.
// Otherwise, an accidental name clash would turn off the built-in rule.
func replacements(own []*module, builtin []*rule) (errs []error) {
	ids := lists.Of(builtin, func(r *rule) string { return r.id })
	for _, m := range own {
		if m.rule == nil {
			continue
		}
		id, replaces := m.rule.id, m.replaces()
		at := fmt.Sprintf("%s:%d", m.file, m.parsed.Package.Location.Row)
		switch exists := slices.Contains(ids, id); {
		case exists && !replaces:
			errs = append(errs, fmt.Errorf("%s: a built-in rule has the id %s; choose another id, or replace it with custom.replaces: %[2]s", at, id))
		case replaces && !exists:
			errs = append(errs, fmt.Errorf("%s: custom.replaces: no built-in rule has the id %s%s", at, id, near(id, ids)))
		}
	}
	return errs
}

// analysePacks finds the fields that the enabled rules of packs and templates read. Without this
// analysis, every field of a list would have to be built.
func (e *Engine) analysePacks() error {
	var further []*code
	for _, r := range e.rules {
		if r.outsideCore() && !r.own && !r.off && !slices.Contains(further, r.code) {
			further = append(further, r.code)
		}
	}
	if len(further) == 0 {
		return nil
	}
	p, err := compileTrusted(further)
	if err != nil {
		return err
	}
	t := newTracer(p.compiler, factsNode())
	for _, c := range further {
		c.program = p
		c.reads, _ = t.module(p.compiler.Modules[c.file])
	}
	return nil
}

// addCustom compiles the custom modules and adds their rules. The argument "mutant" is true if a
// condition has been removed from the modules.
func (e *Engine) addCustom(own []*module, mutant bool) error {
	if len(own) == 0 {
		return nil
	}
	p, err := compileWithin(e.deadline, compilation{own: own, mutant: mutant})
	if err != nil {
		return err
	}
	for _, m := range own {
		if m.rule != nil {
			m.rule.program = p
			m.rule.reads = p.reads[m]
			e.rules = append(e.rules, m.rule)
		}
	}
	return nil
}

func (e *Engine) find(id string) *rule {
	for _, r := range e.rules {
		if r.id == id {
			return r
		}
	}
	return nil
}

// Whole reports whether an enabled rule outside the core may read the facts at the given path. The
// path names a list of facts, such as workloads, or a field in a list, such as workloads.terms.
// Custom rules, pack rules and instances are outside the core.
func (e *Engine) Whole(path string) bool {
	return slices.ContainsFunc(e.rules, func(r *rule) bool { return r.outsideCore() && !r.off && r.reads.has(path) })
}

// Packs returns the sorted names of all packs.
func (e *Engine) Packs() []string { return slices.Clone(e.packs) }

// IDs returns the sorted ids of all rules. It includes rules that are off, but no templates. The
// caller must not modify the slice.
func (e *Engine) IDs() []string {
	return slices.Clip(e.ids)
}

// Rules returns the enabled rules, sorted by id. Each rule has the level of its category.
func (e *Engine) Rules() []diag.Rule {
	var rules []diag.Rule
	for _, r := range e.rules {
		if !r.off {
			rules = append(rules, r.meta())
		}
	}
	return rules
}

// All returns all rules, sorted by id, including templates and rules that are off.
func (e *Engine) All() []diag.Rule {
	return lists.Of(e.rules, (*rule).meta)
}

// Rule looks up a rule or template by id. It also finds rules that are off.
func (e *Engine) Rule(id string) (diag.Rule, bool) {
	r := e.find(id)
	if r == nil {
		return diag.Rule{}, false
	}
	return r.meta(), true
}

// File returns the file name that errors show for a custom rule. It returns "" for any other rule.
func (e *Engine) File(id string) string {
	if r := e.find(id); r != nil && r.own && r.instance == nil {
		return r.file
	}
	return ""
}

// Vendored reports whether a lock file pins the content of a rule.
func (e *Engine) Vendored(id string) bool {
	return slices.ContainsFunc(e.modules, func(m *module) bool { return m.rule != nil && m.rule.id == id && m.locked })
}

// Own reports whether a rule is the user's own: a custom rule or an instance from the
// configuration.
func (e *Engine) Own(id string) bool {
	r := e.find(id)
	return r != nil && (r.own || r.instance != nil)
}

// Level returns the level that a rule declares. It returns off if the rule does not run, or "" if
// the rule is unknown.
func (e *Engine) Level(id string) diag.Level {
	r := e.find(id)
	switch {
	case r == nil:
		return ""
	case r.off:
		return diag.LevelOff
	}
	return r.level()
}

// Runs reports whether a rule is enabled and will be evaluated.
func (e *Engine) Runs(id string) bool {
	r := e.find(id)
	return r != nil && !r.off
}

// Options selects the rules to load. The zero value loads no rules.
type Options struct {
	// Rules holds the built-in rules: core rules as <id>/rule.rego, pack rules as
	// <pack>/<id>/rule.rego, and templates as templates/<id>/rule.rego.
	Rules fs.FS
	// Packs lists the enabled packs by name. Unknown names are ignored. The caller must check the
	// names against Engine.Packs and report unknown ones with their positions.
	Packs []string
	// Dirs lists folders with custom rules. Every *.rego file in these folders and their subfolders
	// is loaded, except *_test.rego.
	Dirs []string
	// Shown returns the name to show for a folder in errors. If it is nil, errors show the folder
	// as given in Dirs.
	Shown func(dir string) string
	// Instead replaces a folder's files with files in memory. It allows the caller to check new
	// rules before writing them to disk. It may be nil.
	Instead *Folder
	// Without is a condition to remove from its rule or library. It may be nil. If Without is set,
	// unused variables and imports are not errors, because only the condition may have used them.
	Without *Condition
	// Off reports whether a rule is turned off. It may be nil. Custom rules are checked even when
	// they are off.
	Off func(id string) bool
	// Params holds the parameters of rules and instances, keyed by id. An unknown id is an error.
	Params map[string]Values
	// Shared holds parameters for all rules that match a pattern and declare the parameter. Later
	// entries override earlier ones, and Params overrides Shared.
	Shared []Shared
	// Instances holds the configured rules that are based on a template or on another rule with
	// parameters.
	Instances []Instance
	// Deadline limits the CPU time for compiling custom rules. It also limits the CPU time of each
	// call of Evaluate: once for all built-in rules and once for all custom rules. Zero means
	// DefaultDeadline.
	Deadline time.Duration
}

// Folder is an in-memory folder of rules. File names use forward slashes.
type Folder struct {
	Dir   string
	Files map[string][]byte
}

// Values holds parameters from the configuration: strings, numbers, booleans, lists, and maps with
// string keys.
type Values struct {
	Values map[string]any
	// At returns the position of a value as file:line:col, or "" if it is unknown. A path is a
	// sequence of keys and indices, such as "namespaces", "0". The empty path refers to the map
	// itself. At may be nil.
	At func(path ...string) string
}

// Shared holds parameters that apply to several rules.
type Shared struct {
	// Key is the pattern that selects the rules, as written in the configuration.
	Key     string
	Matches func(id string) bool
	Values
}

// Instance is a configured rule that is based on a template or on another rule with parameters. An
// empty title, description, owner or runbook is taken from that template or rule.
type Instance struct {
	ID                                 string
	Use                                string // the template's id
	Title, Description, Owner, Runbook string
	Params                             Values
	// Place is the instance's position in the configuration, as file:line:col.
	Place string
}

// Ask is a question about losing nodes. At least one rule needs the answer.
type Ask struct {
	Rule string
	// Survive is node, zone, region or a label key. Losing a domain means losing one node, one
	// zone, one region, or all nodes with the same value of the label. The question is whether
	// workloads survive that loss.
	Survive string
}

// allowed lists the built-in functions that rules may call. The result of each function depends
// only on its arguments. The table "bounds" has the costs of calls. Calling any other function is a
// compile error, and the table "refused" explains why.
func allowed() []string {
	return []string{
		// functions behind operators and keywords
		"and", "assign", "div", "eq", "equal", "gt", "gte", "internal.member_2", "internal.member_3",
		"internal.template_string", "lt", "lte", "minus", "mul", "neq", "or", "plus", "rem",
		// numbers
		"abs", "bits.and", "bits.lsh", "bits.negate", "bits.or", "bits.rsh", "bits.xor", "ceil", "floor", "format_int",
		"max", "min", "numbers.range", "numbers.range_step", "product", "round", "sum", "to_number",
		// strings and patterns
		"concat", "contains", "endswith", "glob.match", "glob.quote_meta", "indexof", "indexof_n", "lower",
		"regex.find_all_string_submatch_n", "regex.find_n", "regex.is_valid", "regex.match", "regex.replace",
		"regex.split", "replace", "split", "sprintf", "startswith", "strings.any_prefix_match",
		"strings.any_suffix_match", "strings.count", "strings.replace_n", "strings.reverse", "strings.split_n",
		"substring", "trim", "trim_left", "trim_prefix", "trim_right", "trim_space", "trim_suffix", "upper",
		// arrays, sets and objects
		"array.concat", "array.flatten", "array.reverse", "array.slice", "count", "intersection", "json.filter",
		"json.remove", "object.filter", "object.get", "object.keys", "object.remove", "object.subset",
		"object.union", "object.union_n", "sort", "union", "walk",
		// graphs
		"graph.reachable", "graph.reachable_paths",
		// encodings and digests
		"base64.decode", "base64.encode", "base64.is_valid", "base64url.decode", "base64url.encode",
		"base64url.encode_no_pad", "crypto.md5", "crypto.sha1", "crypto.sha256", "hex.decode", "hex.encode",
		"json.is_valid", "uri.is_valid", "uri.parse", "urlquery.decode", "urlquery.decode_object", "urlquery.encode",
		"urlquery.encode_object", "uuid.parse", "yaml.is_valid", "yaml.marshal", "yaml.unmarshal",
		// addresses
		"net.cidr_contains", "net.cidr_intersects", "net.cidr_is_valid",
		// fixed points in time, in UTC
		"time.add_date", "time.clock", "time.date", "time.diff", "time.format", "time.parse_duration_ns",
		"time.parse_ns", "time.parse_rfc3339_ns", "time.weekday",
		// types, quantities and versions
		"is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string", "json.marshal",
		"json.unmarshal", "semver.compare", "semver.is_valid", "type_name", "units.parse", "units.parse_bytes",
		// the rule's own annotation
		"rego.metadata.chain", "rego.metadata.rule",
	}
}

// refused explains why rules may not call certain OPA functions. Each entry names one or more
// functions, or prefixes of function names.
var refused = []struct{ names, why string }{
	{"print internal.print", "it works in tests of policies only"},
	{"trace internal.test_case", "it writes output, and rules only report findings"},
	{"http.send net.lookup_ip_addr", "rules have no access to the network, so that they find the same everywhere"},
	{"time.now_ns", "rules have no clock, so that they find the same tomorrow"},
	{"rand. uuid.rfc4122", "rules have no random numbers, so that every run finds the same"},
	{"opa.runtime", "rules do not see the environment, so that they find the same everywhere"},
	{"json.match_schema json.verify_schema", "a schema may refer to others on the network"},
	{"io.jwt. crypto.x509. crypto.hmac. crypto.parse_private_keys providers.", "rules have no keys, tokens or certificates to work with"},
	{"rego.parse_module graphql.", "facts hold no Rego and no GraphQL"},
	{"strings.render_template", "a template may loop, at a cost that has no bound; use sprintf"},
	{"json.patch", "a patch may copy a value into itself, at a cost that has no bound; use object.union or json.remove"},
	{"json.marshal_with_options", "its indentation has no bound; use json.marshal or yaml.marshal"},
	{"net.cidr_expand", "a range may have any number of addresses; use net.cidr_contains"},
	{"net.cidr_merge net.cidr_contains_matches", "its cost has no bound; use net.cidr_contains or net.cidr_intersects"},
	{"regex.globs_match regex.template_match", "its cost has no bound; use glob.match or regex.match"},
	{"any all cast_ re_match set_diff net.cidr_overlap", "it is deprecated"},
}

// capabilities returns the language features and functions available to rules. Callers must not
// modify the result. The result is cached, because OPA would sort the functions of every new copy.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	names := allowed()
	slices.Sort(names)
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool {
		_, ok := slices.BinarySearch(names, b.Name)
		return !ok
	})
	c.AllowNet = []string{} // an empty list allows no hosts, nil would allow all
	return c
})

// functionsByName maps each allowed function's name to its declaration.
var functionsByName = sync.OnceValue(func() map[string]*ast.Builtin {
	all := map[string]*ast.Builtin{}
	for _, b := range capabilities().Builtins {
		all[b.Name] = b
	}
	return all
})
