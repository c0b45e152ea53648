package rego

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/facts"
)

//go:embed lib/*.rego
var libraries embed.FS

// program is a compiled set of modules.
type program struct {
	compiler *ast.Compiler
	reads    map[*module]reads // of custom rules
}

// compileWithin compiles under a deadline of CPU time: a few nested comprehensions keep OPA busy for
// hours. The compilation cannot be stopped, so it continues until the process ends, which is soon
// after such an error.
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

// compilation holds custom modules, and their unit tests.
type compilation struct {
	own, tests []*module
	// mutant is set if a condition is left out: what only the condition uses is then not reported
	// as unused.
	mutant bool
}

// compileChecked compiles custom modules with every available check. The schema applies to all of
// them: rules name it in their METADATA, and libraries always get it.
func compileChecked(what compilation) (p *program, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: the Rego compiler fails on these rules: %v", what.own[0].file, p)
		}
	}()
	modules, functions := map[string]*ast.Module{}, capabilities()
	for _, m := range slices.Concat(what.own, what.tests) {
		modules[m.file] = m.parsed
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
	if err := join(undefinedData(modules)); err != nil {
		return nil, err
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, util.MustUnmarshalJSON(facts.Schema()))
	schemas.Put(factsRef(), util.MustUnmarshalJSON(facts.Schema()))
	// Unless print statements are enabled, OPA silently drops calls of print. The capabilities have
	// no print, so such calls are errors.
	c := ast.NewCompiler().WithStrict(!what.mutant).WithEnablePrintStatements(true).WithCapabilities(functions).
		WithSchemas(schemas).WithUseTypeCheckAnnotations(true).
		WithSkipStages(ast.StageBuildComprehensionIndices) // these evaluate bodies in which nothing is bound, see hoister
	p, err = compile(c, modules)
	if err != nil {
		return nil, err
	}
	if p.reads, err = analyse(c, what.own); err != nil && !what.mutant {
		return nil, err
	}
	hoist(c.Modules)
	guard(c.Modules)
	return p, nil
}

// compileTrusted compiles built-in rules, which the tests have checked. It skips stages that serve
// only checks, or that read annotations.
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
	names, err := fs.Glob(libraries, "lib/*.rego")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := libraries.ReadFile(name)
		if err != nil {
			return err
		}
		m, err := parse(name, string(text), false)
		if err != nil {
			return err
		}
		modules[name] = m
	}
	return nil
}

// undefinedData finds references to data that no module defines: OPA expects such documents at run
// time, so rules that use them would never fire.
func undefinedData(modules map[string]*ast.Module) []error {
	var packages []string
	for _, m := range modules {
		packages = append(packages, m.Package.Path.String())
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		ast.WalkRefs(modules[name], func(r ast.Ref) bool {
			if r.HasPrefix(ast.DefaultRootRef) && !defined(r.ConstantPrefix().String(), packages) {
				errs = append(errs, fmt.Errorf("%s%s is not defined by any rule or library", place(r[0].Location), r))
			}
			return false
		})
	}
	return errs
}

func defined(ref string, packages []string) bool {
	for _, p := range packages {
		if strings.HasPrefix(ref+".", p+".") || strings.HasPrefix(p+".", ref+".") {
			return true
		}
	}
	return false
}

// run evaluates the report of one rule. The function with extends the query.
func (p *program) run(ctx context.Context, c *code, input *ast.Term, with func(*topdown.Query) *topdown.Query) (found ast.Set, err error) {
	err = p.query(ctx, c.report(), func(q *topdown.Query) *topdown.Query { return with(q.WithInput(input)) }, func(report *ast.Term) {
		found, _ = report.Value.(ast.Set)
	})
	return found, err
}

// query hands each value of a term to a function. The function with extends the query.
func (p *program) query(ctx context.Context, of *ast.Term, with func(*topdown.Query) *topdown.Query, each func(*ast.Term)) error {
	stop := topdown.NewCancel()
	defer context.AfterFunc(ctx, stop.Cancel)()
	store := inmem.New()
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return err
	}
	defer store.Abort(ctx, txn)
	value := ast.VarTerm("value")
	q := topdown.NewQuery(ast.NewBody(ast.Equality.Expr(value, of))).
		WithCompiler(p.compiler).WithStore(store).WithTransaction(txn).WithCancel(stop).WithStrictBuiltinErrors(true)
	return with(q).Iter(ctx, func(r topdown.QueryResult) error {
		each(r[value.Value.(ast.Var)])
		return nil
	})
}
