package placement_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckerIsIndependent keeps the checker apart from what it checks: its
// files use nothing that the engine's files declare, but for the few words in
// which proofs are handed over.
func TestCheckerIsIndependent(t *testing.T) {
	engine := []string{"arena*.go", "search.go", "columns.go", "closed.go", "closable.go", "large.go", "clique.go", "hall.go", "weights.go", "flow.go",
		"company.go", "equal.go", "permanent.go", "field.go", "wedge.go", "colour.go", "exactly.go", "relax.go", "core.go", "repair.go", "joint.go", "loss.go"}
	checker := []string{"verify*.go", "check*.go", "ledger.go"}
	declared := map[string]string{}
	for name, file := range parsed(t, engine) {
		for _, d := range file.Decls {
			for _, id := range topLevel(d) {
				declared[id] = name
			}
		}
	}
	for name, file := range parsed(t, checker) {
		own := map[*ast.Ident]bool{} // methods and fields may share a name
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				own[n.Sel] = true
			case *ast.FuncDecl:
				own[n.Name] = true
			case *ast.Field:
				for _, id := range n.Names {
					own[id] = true
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					own[id] = true
				}
			case *ast.Ident:
				if declared[n.Name] != "" && !own[n] && n.Obj == nil {
					t.Errorf("%s uses %s of %s", name, n.Name, declared[n.Name])
				}
			}
			return true
		})
	}
}

func parsed(t *testing.T, patterns []string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no such file, %v", pattern, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = file
		}
	}
	return files
}

// topLevel are the names of types, functions, constants and variables.
func topLevel(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}
