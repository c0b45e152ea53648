package rego

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// constructs lists the ways in which rules use literals: construction, destructuring, comparison
// and passing as arguments, inside comprehensions, functions, negations and mocks.
const constructs = `package x

rows := [{"id": 1, "at": ["a", 2]}, {"id": 2, "at": ["b", 3]}, {"id": 3, "at": ["a", 4]}]

made contains [r.id, {"at": r.at, "both": [r.id, r.id]}] if some r in rows

taken contains pair if {
	some r in rows
	[name, n] := r.at
	pair := {"n": n, "name": name}
}

partly contains n if {
	some r in rows
	["a", n] = r.at
}

matched contains r.id if {
	some r in rows
	name := "a"
	n := r.id + 1
	r.at == [name, n]
}

known contains n if {
	some r in rows
	x := r.at[0]
	[x, n] = r.at
	x == "a"
}

negated contains r.id if {
	some r in rows
	other := "a"
	not r.at == [other, 2]
	not same([r.id, other], [1, other])
}

same(a, b) if a == b

swap([a, b]) := [b, a]

swapped := {swap(r.at) | some r in rows}

twice(x) := [x, x]

deep := twice(twice(twice({"k": rows[0].id})))

grouped := {name: ids |
	some r in rows
	[name, _] := r.at
	ids := {[s.id, name] | some s in rows; [name, _] = s.at}
}

nested_bodies := [[a, b, [a, b]] |
	some a in [1, 2]
	b := [[a, c] | some c in [a, 3]]
]

all_in if {
	limits := {"a": 4, "b": 3}
	every r in rows {
		pair := [r.at[0], r.at[1]]
		pair[1] <= limits[pair[0]]
	}
}

by_key := object.union({"a": made}, {"b": {[k, v] | some k, v in {"p": 1, "q": 2}}})

mocked := n if n := count(rows) with count as twice

given := input.x

replaced := n if n := given with input as {"x": [rows[0].id, rows[1].id]}

text := $"{rows[0].id} of {count(rows)}"

chosen := [1, y] if {
	y := 5
	y > 9
} else := [2, y] if {
	y := [rows[0].id, 7]
	y[1] == 7
}

found contains p if {
	walk({"a": [rows[0].id]}, [p, 1])
}

second := v if [_, v] = twice(rows[1].id)

index contains [i, r.id] if {
	some i
	r := rows[i]
	pairs := {[r.id, i], [i, r.id]}
	[i, i + 1] in pairs
}
`

// TestHoistingChangesNothing checks that rules evaluate to the same results with unmodified OPA
// and with OPA as it is set up for custom rules.
func TestHoistingChangesNothing(t *testing.T) {
	whole := func(own bool) ast.Value {
		t.Helper()
		m, err := parse("x.rego", constructs, false)
		if err != nil {
			t.Fatal(err)
		}
		c := ast.NewCompiler().WithCapabilities(capabilities())
		if own {
			c = c.WithSkipStages(ast.StageBuildComprehensionIndices)
		}
		if c.Compile(map[string]*ast.Module{"x.rego": m}); c.Failed() {
			t.Fatal(c.Errors)
		}
		ctx, store := context.Background(), inmem.New()
		txn, err := store.NewTransaction(ctx)
		if err != nil {
			t.Fatal(err)
		}
		q := topdown.NewQuery(ast.MustParseBody("data.x = y")).WithCompiler(c).WithStore(store).WithTransaction(txn).WithStrictBuiltinErrors(true)
		if own {
			hoist(c.Modules)
			guard(c.Modules)
			meter := newMeter(0, maxSteps)
			q = q.WithQueryTracer(meter).WithBuiltins(meter.functions())
		}
		results, err := q.Run(ctx)
		if err != nil || len(results) != 1 {
			t.Fatalf("own is %v: %d results, %v", own, len(results), err)
		}
		return results[0][ast.Var("y")].Value
	}
	want, got := whole(false), whole(true)
	if object, ok := want.(ast.Object); !ok || object.Len() < 20 {
		t.Fatalf("the constructs give %v", want)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestLiteralsAreHoisted checks that literals with variables become values, except for a few
// patterns.
func TestLiteralsAreHoisted(t *testing.T) {
	m, err := parse("x.rego", constructs, false)
	if err != nil {
		t.Fatal(err)
	}
	c := ast.NewCompiler().WithCapabilities(capabilities())
	if c.Compile(map[string]*ast.Module{"x.rego": m}); c.Failed() {
		t.Fatal(c.Errors)
	}
	hoist(c.Modules)
	made, patterns := 0, 0
	ast.WalkExprs(c.Modules["x.rego"], func(e *ast.Expr) bool {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok {
			return false
		}
		for _, t := range terms[1:] {
			switch {
			case !literal(t):
			case terms[0].String() == makeValue:
				made++
			default:
				patterns++
			}
		}
		return false
	})
	if made < 12 || patterns > 10 {
		t.Errorf("%d literals are made values, %d are left as patterns", made, patterns)
	}
}
