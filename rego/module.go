package rego

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// module is a parsed custom file. The file contains either a rule or a library for rules to import.
type module struct {
	file, text string
	parsed     *ast.Module
	rule       *rule // nil for a library
	locked     bool  // listed in the lock file of a folder with vendored rules
	// foreign is set for a library whose input is not the facts: a policy for another tool, which
	// rules call with an input of its own. Such a library may be written in the first version of Rego.
	foreign bool
}

// parse parses a module. OPA reads annotations only on request, and type checks need them. Because
// the file is untrusted, parse turns a panic of the parser into an error.
func parse(file, text string, annotations bool) (m *ast.Module, err error) {
	return parseWith(file, text, annotations, capabilities())
}

func parseWith(file, text string, annotations bool, c *ast.Capabilities) (*ast.Module, error) {
	return parseAs(ast.RegoV1, file, text, annotations, c)
}

func parseAs(version ast.RegoVersion, file, text string, annotations bool, c *ast.Capabilities) (m *ast.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: the Rego parser fails on this file: %v", file, p)
		}
	}()
	m, err = ast.ParseModuleWithOpts(file, text, ast.ParserOptions{
		ProcessAnnotation: annotations, Capabilities: c, RegoVersion: version,
	})
	return m, explain(err)
}

// newModule parses a custom file and returns all problems found.
func newModule(file, text string) (*module, []error) {
	parsed, err := parse(file, text, true)
	if err != nil {
		old, oldErr := parseAs(ast.RegoV0, file, text, true, capabilities())
		if oldErr != nil || !anyInput(old) {
			return nil, []error{err}
		}
		parsed = old
	}
	m := &module{file: file, text: text, parsed: parsed, foreign: anyInput(parsed)}
	id, err := idOf(parsed)
	if err != nil {
		return nil, []error{fmt.Errorf("%s:%d: %w", file, parsed.Package.Location.Row, err)}
	}
	if id == "" {
		return m, nil
	}
	said, errs := metadata(id, file, text, parsed)
	if err := hasReport(file, parsed); err != nil {
		errs = append(errs, err)
	}
	c := &code{id: id, file: file, text: text, own: true, template: said.Template, notes: func() notes { return said }}
	m.rule = &rule{id: id, code: c}
	return m, errs
}

// idForm is a regular expression for rule ids. Ids must be usable as folder names, as YAML keys and
// in comments. The part before the dot is the name of a pack.
const idForm = `^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)?$`

// idOf returns the id of the rule in a module, or "" if the module is a library. The id is the last
// part of the module's package name.
func idOf(m *ast.Module) (string, error) {
	var path []string
	for _, t := range m.Package.Path[1:] { // the first element is data
		s, _ := t.Value.(ast.String)
		path = append(path, string(s))
	}
	switch {
	case len(path) == 3 && path[0] == "schedlint" && path[1] == "rules":
		if !regexp.MustCompile(idForm).MatchString(path[2]) {
			return "", fmt.Errorf("the rule id %q is not made of lower-case words with hyphens between them, and at most one dot behind the name of a pack", path[2])
		}
		return path[2], nil
	case path[0] == "schedlint":
		return "", fmt.Errorf(`the %s is reserved; a rule is package schedlint.rules["<id>"], a library any other`, m.Package)
	case len(reports(m)) > 0:
		return "", fmt.Errorf(`the %s has a report, which a library has not; a rule is package schedlint.rules["<id>"]`, m.Package)
	}
	return "", nil
}

// reports returns all definitions of report, in any form.
func reports(m *ast.Module) []*ast.Rule {
	var found []*ast.Rule
	for _, r := range m.Rules {
		if name, ok := r.Head.Ref()[0].Value.(ast.Var); ok && name == "report" {
			found = append(found, r)
		}
	}
	return found
}

const reportForm = `report contains result.finding(rego.metadata.chain(), row, {"message": message}) if { ... }`

// hasReport checks that a module defines report as a set.
func hasReport(file string, m *ast.Module) error {
	found := reports(m)
	if len(found) == 0 {
		names := lists.Of(m.Rules, func(r *ast.Rule) string { return r.Head.Ref().String() })
		return fmt.Errorf("%s:%d: the rule has no report%s; write %s", file, m.Package.Location.Row, near("report", names), reportForm)
	}
	for _, r := range found {
		if r.Head.RuleKind() != ast.MultiValue || len(r.Head.Ref()) > 1 {
			return fmt.Errorf("%s:%d: report is not a set; write %s", file, r.Location.Row, reportForm)
		}
	}
	return nil
}

// near returns a suggestion of the name closest to a misspelled word, or "" if no name is close.
func near(word string, names []string) string {
	if name := diag.Nearest(word, names); name != "" {
		return fmt.Sprintf(" (did you mean %s?)", name)
	}
	return ""
}

// CheckID returns an error if a rule id is malformed.
func CheckID(id string) error {
	if !regexp.MustCompile(idForm).MatchString(id) {
		return fmt.Errorf("the rule id %q is not made of lower-case words with hyphens between them, such as web-runs-twice or team.web-runs-twice", id)
	}
	return nil
}

type category struct {
	name  string
	level diag.Level
	means string
}

// categories lists all categories, most severe first.
var categories = []category{
	{"invalid", diag.LevelError, "the API server refuses the object, or the pods that it creates"},
	{"infeasible", diag.LevelError, "pods stay Pending on the declared topology; this is proved"},
	{"ineffective", diag.LevelWarning, "the constraint is accepted and does nothing"},
	{"fragile", diag.LevelWarning, "it holds now, and not during a rollout, a drain, a migration or a loss of nodes"},
	{"advice", diag.LevelOff, "a recommendation; off unless the configuration gives it a level"},
	{"policy", diag.LevelError, "a rule of your own"},
}

// notes holds the contents of a rule's annotation.
type notes struct {
	diag.Rule
	// params is the parameter schema, or nil if the rule takes no parameters.
	params *schema
	asks   []ask
	// untested lists the conditions that METADATA exempts from mutation tests.
	untested []untested
}

// metadata parses the annotation of a package and returns all problems found. OPA silently accepts
// unknown keys, but metadata reports them.
func metadata(id, file, text string, m *ast.Module) (notes, []error) {
	errs := lists.Gather(m.Annotations, func(a *ast.Annotations) []error { return unknownKeys(file, text, a) })
	a := packageAnnotation(m)
	if a == nil {
		return notes{}, append(errs, fmt.Errorf(
			"%s:%d: no METADATA comment stands right above the package; it gives title, description, schemas and custom.category",
			file, m.Package.Location.Row))
	}
	n := notes{Rule: diag.Rule{ID: id, Title: strings.TrimSpace(a.Title), Description: strings.TrimSpace(a.Description)}}
	if pack, _, ok := strings.Cut(id, "."); ok {
		n.Pack = pack
	}
	for _, related := range a.RelatedResources {
		n.Related = append(n.Related, related.Ref.String())
	}
	for _, problem := range slices.Concat(texts(&n.Rule, a), custom(&n, a.Custom)) {
		errs = append(errs, fmt.Errorf("%s:%d: METADATA %s", file, a.Location.Row, problem))
	}
	if n.params != nil && len(errs) == 0 {
		definition := n.params.definition()
		a.Schemas = append(a.Schemas, &ast.SchemaAnnotation{Path: ast.InputRootRef.Append(ast.StringTerm("params")), Definition: &definition})
		var all []diag.Param
		for _, name := range n.params.names() {
			p := n.params.properties[name]
			one := diag.Param{Name: name, Type: p.kind, Description: p.description}
			if p.hasDefault {
				text, _ := json.Marshal(p.fallback) // cannot fail, because the value consists of strings, numbers, booleans, lists and maps
				one.Default = string(text)
			}
			all = append(all, one)
		}
		n.Params = all
	}
	return n, errs
}

func packageAnnotation(m *ast.Module) *ast.Annotations {
	for _, a := range m.Annotations {
		if a.Scope == "package" {
			return a
		}
	}
	return nil
}

// texts checks the title, the description and the schemas entry. OPA checks field names only if the
// schemas entry is present.
func texts(r *diag.Rule, a *ast.Annotations) (problems []string) {
	if r.Title == "" {
		problems = append(problems, "has no title; give one line that names what is bad")
	}
	if strings.Contains(r.Title, "\n") {
		problems = append(problems, "has a title of several lines; give one")
	}
	if r.Description == "" {
		problems = append(problems, "has no description; say what happens, why, and what to do")
	}
	typed := func(s *ast.SchemaAnnotation) bool {
		return s.Path.Equal(ast.InputRootRef) && s.Schema.Equal(factsRef())
	}
	if !slices.ContainsFunc(a.Schemas, typed) {
		problems = append(problems, `has no schemas with the entry "- input: schema.facts", which makes misspelt fields an error`)
	}
	return problems
}

func factsRef() ast.Ref { return ast.SchemaRootRef.Append(ast.StringTerm("facts")) }

func anyRef() ast.Ref { return ast.SchemaRootRef.Append(ast.StringTerm("any")) }

// anyInput reports whether METADATA says that the input of a module is not the facts.
func anyInput(m *ast.Module) bool {
	a := packageAnnotation(m)
	return a != nil && slices.ContainsFunc(a.Schemas, func(s *ast.SchemaAnnotation) bool {
		return s.Path.Equal(ast.InputRootRef) && s.Schema.Equal(anyRef())
	})
}

// metadataKeys lists the annotation keys that OPA knows.
var metadataKeys = []string{
	"title", "description", "schemas", "custom", "related_resources", "scope", "authors", "organizations",
	"entrypoint", "labels", "compile",
}

// unknownKeys finds unknown keys by reading the METADATA comment itself, because OPA drops them.
func unknownKeys(file, text string, a *ast.Annotations) (errs []error) {
	lines := strings.Split(text, "\n")
	for row := a.Location.Row; row < len(lines); row++ { // the first line after "# METADATA"
		line, isComment := strings.CutPrefix(strings.TrimSpace(lines[row]), "#")
		if !isComment {
			return errs
		}
		line = strings.TrimPrefix(line, " ") // a key indented by more than one space is nested
		key, _, ok := strings.Cut(line, ":")
		ok = ok && key != "" && !strings.ContainsAny(key, " \t-#{[")
		key = strings.Trim(key, `"'`)
		if ok && !slices.Contains(metadataKeys, key) {
			errs = append(errs, fmt.Errorf("%s:%d: METADATA has the unknown key %s%s; there are %s",
				file, row+1, key, near(key, metadataKeys), strings.Join(metadataKeys, ", ")))
		}
	}
	return errs
}

//go:embed lib/*.rego
var libraries embed.FS

// program is a set of compiled modules.
type program struct {
	compiler *ast.Compiler
	reads    map[*module]reads // places that the custom rules read
	foreign  bool              // whether a library is foreign
}

// compileWithin compiles custom modules within a CPU time limit. A few nested comprehensions can
// keep OPA busy for hours. OPA cannot interrupt a compilation, so it continues in the background
// after a timeout.
func compileWithin(deadline time.Duration, what compilation) (*program, error) {
	type outcome struct {
		program *program
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		p, err := compileChecked(what)
		done <- outcome{p, err}
	}()
	limit, cancel := cpu.WithLimit(context.Background(), deadline)
	defer cancel()
	select {
	case o := <-done:
		return o.program, o.err
	case <-limit.Done():
		return nil, fmt.Errorf("%s:1: these rules take more than %v of CPU time to compile; nest comprehensions less deeply", what.own[0].file, deadline)
	}
}

// compilation holds the custom modules to compile, and their unit tests.
type compilation struct {
	own, tests []*module
	// mutant is set if a condition has been removed. Unused variables and imports are then not
	// errors, because only the condition may have used them.
	mutant bool
}

// compileChecked compiles custom modules with all checks. Every module is checked against the facts
// schema. Rules must name the schema in their METADATA, but libraries need not.
func compileChecked(what compilation) (p *program, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: the Rego compiler fails on these rules: %v", what.own[0].file, p)
		}
	}()
	modules, functions, foreign := map[string]*ast.Module{}, capabilities(), map[string]bool{}
	for _, m := range slices.Concat(what.own, what.tests) {
		modules[m.file] = m.parsed
		if m.foreign {
			foreign[m.file] = true
		}
	}
	if len(what.tests) > 0 {
		functions = testCapabilities()
		if modules["lib/facts.rego"], err = parse("lib/facts.rego", factsLibrary(), false); err != nil {
			return nil, err
		}
	}
	if err := addLibraries(modules); err != nil {
		return nil, err
	}
	if err := join(undefinedData(modules, foreign)); err != nil {
		return nil, err
	}
	schemas := ast.NewSchemaSet()
	schema := util.MustUnmarshalJSON(facts.Schema())
	schemas.Put(ast.SchemaRootRef, schema)
	schemas.Put(factsRef(), schema)
	schemas.Put(anyRef(), map[string]any{})
	// OPA silently drops calls of print unless print statements are enabled. If they are enabled,
	// the calls become errors, because rules may not call print.
	compiler := func(strict bool) *ast.Compiler {
		return ast.NewCompiler().WithStrict(strict).WithEnablePrintStatements(true).WithCapabilities(functions).
			WithSchemas(schemas).WithUseTypeCheckAnnotations(true).
			WithSkipStages(ast.StageBuildComprehensionIndices) // these indices evaluate bodies without bound variables, see hoister
	}
	strict := !what.mutant
	if strict && len(foreign) > 0 { // users cannot change the style of others
		if err := strictly(compiler(true), modules, foreign); err != nil {
			return nil, err
		}
		strict = false
	}
	c := compiler(strict)
	p, err = compile(c, modules)
	if err != nil {
		return nil, err
	}
	p.foreign = len(foreign) > 0
	if p.reads, err = analyse(c, what.own, foreign); err != nil && !what.mutant {
		return nil, err
	}
	hoist(c.Modules)
	guard(c.Modules)
	return p, nil
}

// strictly returns an error if the modules that are not foreign do not pass the compiler's strict
// checks. Without the others, their functions are undefined, but the compiler notices that last.
func strictly(c *ast.Compiler, modules map[string]*ast.Module, foreign map[string]bool) error {
	own := maps.Clone(modules)
	maps.DeleteFunc(own, func(file string, _ *ast.Module) bool { return foreign[file] })
	c.Compile(own)
	if slices.ContainsFunc(c.Errors, func(e *ast.Error) bool { return e.Code == ast.TypeErr }) {
		return nil
	}
	return explain(c.Errors)
}

// compileTrusted compiles built-in rules, which the tests have already checked. It skips the
// compiler stages that only check modules or read annotations.
func compileTrusted(rules []*code) (*program, error) {
	modules := map[string]*ast.Module{}
	for _, r := range rules {
		m, err := parse(r.file, r.text, false)
		if err != nil {
			return nil, err
		}
		modules[r.file] = m
	}
	if err := addLibraries(modules); err != nil {
		return nil, err
	}
	c := ast.NewCompiler().WithCapabilities(capabilities()).WithSkipStages(
		ast.StageParseMetadataBlocks, ast.StageCheckTypes, ast.StageBuildComprehensionIndices, ast.StageBuildRequiredCapabilities)
	return compile(c, modules)
}

func compile(c *ast.Compiler, modules map[string]*ast.Module) (*program, error) {
	if c.Compile(modules); c.Failed() {
		return nil, explain(c.Errors)
	}
	return &program{compiler: c}, nil
}

func addLibraries(modules map[string]*ast.Module) error {
	files, err := libraryFiles()
	for _, f := range files {
		if err == nil {
			modules[f.name], err = parse(f.name, f.text, false)
		}
	}
	return err
}

// libraryFiles returns the libraries that rules can import, sorted by name.
func libraryFiles() (files []textFile, err error) {
	names, err := fs.Glob(libraries, "lib/*.rego")
	for _, name := range names {
		text, err := libraries.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, textFile{name: name, text: string(text)})
	}
	return files, err
}

// inventoryRef returns the reference under which templates of Gatekeeper find other objects.
func inventoryRef() ast.Ref { return ast.DefaultRootRef.Append(ast.StringTerm("inventory")) }

// undefinedData returns an error for each reference to data outside the given modules. OPA assumes
// that such data is loaded at run time, but schedlint never loads any. The rule would therefore
// never report anything. The exception is the inventory of objects, which foreign modules may read
// and others may replace.
func undefinedData(modules map[string]*ast.Module, foreign map[string]bool) []error {
	var packages []string
	for _, m := range modules {
		packages = append(packages, m.Package.Path.String())
	}
	var errs []error
	for _, name := range sorting.Keys(modules) {
		var replaced ast.Value // target of the last "with" modifier
		ast.NewGenericVisitor(func(x any) bool {
			if w, ok := x.(*ast.With); ok {
				replaced = w.Target.Value
			}
			r, ok := x.(ast.Ref)
			if !ok || !r.HasPrefix(ast.DefaultRootRef) || r.HasPrefix(inventoryRef()) && (foreign[name] || replaced != nil && r.Equal(replaced)) {
				return false
			}
			ref := r.ConstantPrefix().String() + "."
			defined := func(p string) bool { return strings.HasPrefix(ref, p+".") || strings.HasPrefix(p+".", ref) }
			if !slices.ContainsFunc(packages, defined) {
				errs = append(errs, fmt.Errorf("%s%s is not defined by any rule or library", place(r[0].Location), r))
			}
			return false
		}).Walk(modules[name])
	}
	return errs
}

// run returns the set that a rule's report evaluates to. The argument "objects" is the inventory for
// foreign libraries, or nil. The argument "with" is a function that adds options to the query.
func (p *program) run(ctx context.Context, c *code, input, objects *ast.Term, with func(*topdown.Query) *topdown.Query) (found ast.Set, err error) {
	err = p.query(ctx, c.report(), objects, func(q *topdown.Query) *topdown.Query { return with(q.WithInput(input)) }, func(report *ast.Term) {
		found, _ = report.Value.(ast.Set)
	})
	return found, err
}

// query evaluates a term and calls the function "each" with every value. The argument "objects" is
// the inventory for foreign libraries, or nil. The argument "with" is a function that adds options to
// the query.
func (p *program) query(ctx context.Context, of, objects *ast.Term, with func(*topdown.Query) *topdown.Query, each func(*ast.Term)) error {
	stop := topdown.NewCancel()
	defer context.AfterFunc(ctx, stop.Cancel)()
	store := inmem.New()
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return err
	}
	defer store.Abort(ctx, txn)
	value := ast.VarTerm("value")
	expr := ast.Equality.Expr(value, of)
	if objects != nil {
		expr.With = []*ast.With{{Target: ast.NewTerm(inventoryRef()), Value: objects}}
	}
	q := topdown.NewQuery(ast.NewBody(expr)).
		WithCompiler(p.compiler).WithStore(store).WithTransaction(txn).WithCancel(stop).WithStrictBuiltinErrors(true)
	return with(q).Iter(ctx, func(r topdown.QueryResult) error {
		each(r[value.Value.(ast.Var)])
		return nil
	})
}
