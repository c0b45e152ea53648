package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/schedlint/schedlint/fixtures/trials"
	ours "github.com/schedlint/schedlint/lint/chart/chartutil"
)

// TestValues computes the values of random charts on both sides. Charts and values are
// small and of few names, so that they meet. Equal are the values, which maps they hold
// twice, and what is left of the chart.
func TestValues(t *testing.T) {
	log.SetOutput(io.Discard) // drops Helm's warnings
	defer log.SetOutput(os.Stderr)
	cases := trials.Of(t, 100_000)
	seen := map[string]int{}
	for i := range trials.Seeds(t, cases) {
		mine, err := ourValues(i)
		if errors.Is(err, ours.ErrDepth) || errors.Is(err, errSteps) {
			seen["endless"]++ // so is Helm
			continue
		}
		theirs, again := helmValues(i), 0
		for ; theirs != mine && again < 50; again++ { // the order of its maps is random
			theirs = helmValues(i)
		}
		if theirs != mine {
			t.Fatalf("case %d\n%s\nHelm:\n%s\nwe:\n%s", i, shown(newTree(i)), theirs, mine)
		}
		if again > 0 {
			seen["unstable"]++
		}
		for mark, in := range marks {
			if strings.Contains(mine, in) {
				seen[mark]++
			}
		}
	}
	t.Logf("%d cases: %v", cases, seen)
	for mark := range marks {
		if least := trials.Share(t, 300); seen[mark] < least {
			t.Errorf("only %d cases with %s, want %d", seen[mark], mark, least)
		}
	}
}

// marks are what answers have in common that show something.
var marks = map[string]string{
	"an error":        "error",
	"a map twice":     "&",
	"a null":          "null",
	"an import":       "child:",
	"a shared import": "imports [] ",
	"a dependency":    "/charts/",
	"a nested one":    "/charts/b/charts/",
	"a whole number":  "int64",
	"globals":         `"global"`,
	"an alias":        "/charts/d",
	"a disabled one":  "enabled of",
}

// tree is a chart and the values of a user.
type tree struct {
	chart *chart.Chart
	user  map[string]any
}

var errSteps = errors.New("more than a million steps")

func ourValues(i int) (said string, err error) {
	defer func() {
		if r := recover(); r == errSteps {
			err = errSteps
		} else if r != nil {
			panic(r)
		}
	}()
	of, steps := newTree(i), 0
	charge := func(n int) {
		if steps += n; steps > 1_000_000 {
			panic(errSteps)
		}
	}
	if err := ours.ProcessDependencies(of.chart, of.user, charge); err != nil {
		return "error", err
	}
	v, err := ours.Coalesce(of.chart, of.user, charge)
	if err != nil {
		return "error", err
	}
	if i%10 == 0 && !reflect.DeepEqual(of.user, newTree(i).user) {
		return "the values of the user changed", nil
	}
	return answered(of.chart, v), nil
}

func helmValues(i int) string {
	of := newTree(i)
	if err := chartutil.ProcessDependenciesWithMerge(of.chart, of.user); err != nil {
		return "error"
	}
	v, err := chartutil.CoalesceValues(of.chart, of.user)
	if err != nil {
		return "error"
	}
	return answered(of.chart, v)
}

// answered is everything that an answer has.
func answered(c *chart.Chart, v map[string]any) string {
	var b strings.Builder
	seen := map[uintptr]int{}
	tell(&b, seen, v)
	b.WriteByte('\n')
	tellChart(&b, seen, c)
	return b.String()
}

// tell writes a value with types. Maps have numbers, so that those that are one show.
func tell(b *strings.Builder, seen map[uintptr]int, v any) {
	switch v := v.(type) {
	case map[string]any:
		at := reflect.ValueOf(v).Pointer()
		if n, ok := seen[at]; ok && v != nil {
			fmt.Fprintf(b, "&%d", n)
			return
		}
		seen[at] = len(seen)
		fmt.Fprintf(b, "%d{", seen[at])
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(b, "%q: ", key)
			tell(b, seen, v[key])
			b.WriteString(", ")
		}
		b.WriteString("}")
	case []any:
		fmt.Fprintf(b, "%d[", len(v))
		for _, item := range v {
			tell(b, seen, item)
			b.WriteString(", ")
		}
		b.WriteString("]")
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprintf(b, "%T(%v)", v, v)
	}
}

func tellChart(b *strings.Builder, seen map[uintptr]int, c *chart.Chart) {
	fmt.Fprintf(b, "%s %s %v", c.ChartFullPath(), c.Metadata.Version, c.IsRoot())
	if enabled := fmt.Sprint(len(c.Metadata.Dependencies)); enabled != c.Metadata.Home {
		fmt.Fprintf(b, " %s enabled of %s", enabled, c.Metadata.Home)
	}
	b.WriteByte('\n')
	for _, d := range c.Metadata.Dependencies {
		fmt.Fprintf(b, "  %s %s %v imports %v \n", d.Name, d.Alias, d.Enabled, d.ImportValues)
	}
	tell(b, seen, c.Values)
	b.WriteByte('\n')
	for _, d := range c.Dependencies() {
		tellChart(b, seen, d)
	}
}

// shown is a tree for people.
func shown(of tree) string {
	var b strings.Builder
	tell(&b, map[uintptr]int{}, of.user)
	b.WriteByte('\n')
	var charts func(c *chart.Chart)
	charts = func(c *chart.Chart) {
		fmt.Fprintf(&b, "%s %s: ", c.ChartFullPath(), c.Metadata.Version)
		tell(&b, map[uintptr]int{}, c.Values)
		for _, d := range c.Metadata.Dependencies {
			fmt.Fprintf(&b, "\n  %+v", *d)
		}
		b.WriteByte('\n')
		for _, d := range c.Dependencies() {
			charts(d)
		}
	}
	charts(of.chart)
	return b.String()
}

// newTree is a random tree; equal numbers give equal trees that share nothing.
func newTree(i int) tree {
	g := grower{rand.New(rand.NewPCG(uint64(i), 17))}
	depth := 2
	if i%5 == 0 {
		depth = 3
	}
	return tree{g.chart("root", depth), g.table(top)}
}

type grower struct{ *rand.Rand }

func (g grower) of(list ...string) string { return list[g.IntN(len(list))] }

func (g grower) likely(percent int) bool { return g.IntN(100) < percent }

// key is one of few, most of which mean something.
func (g grower) key() string {
	return g.of("a", "b", "c", "d", "x", "y", "global", "exports", "tags", "enabled", "global", "a", "b", "c.d")
}

// top is how deeply values are nested.
const top = 3

func (g grower) table(depth int) map[string]any {
	v := map[string]any{}
	for range g.IntN(4) {
		key := g.key()
		v[key] = g.value(depth - 1)
		if len(key) == 1 && depth == top && g.likely(80) { // charts want tables
			v[key] = g.table(depth - 1)
		}
	}
	if depth == top && g.likely(50) {
		v["tags"] = map[string]any{g.of("a", "b"): g.likely(30), "x": g.likely(60)}
	}
	if g.likely(50) {
		v["enabled"] = g.likely(50)
	}
	return v
}

func (g grower) value(depth int) any {
	n := g.IntN(20)
	switch {
	case n < 2:
		return nil
	case n < 3:
		return float64(g.IntN(3))
	case n < 4:
		return int64(g.IntN(3))
	case n < 6:
		return g.likely(50)
	case n < 7:
		return g.of("", "text")
	case n < 8 || depth <= 0:
		list := []any{}
		for range g.IntN(3) {
			if depth > 0 {
				list = append(list, g.value(depth-1))
			}
		}
		return list
	}
	return g.table(depth)
}

func (g grower) chart(name string, depth int) *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: name, Version: g.of("1.0.0", "1.2.3", "2.0.0-rc.1")}}
	if g.likely(90) {
		c.Values = g.table(top)
	}
	if depth > 0 {
		for range g.IntN(4) {
			c.AddDependency(g.chart(g.of("a", "b", "c", "c.d"), depth-1))
		}
	}
	for _, d := range c.Dependencies() {
		for g.likely(60) {
			c.Metadata.Dependencies = append(c.Metadata.Dependencies, g.dependency(d.Name()))
		}
	}
	c.Metadata.Home = fmt.Sprint(len(c.Metadata.Dependencies))
	return c
}

func (g grower) dependency(name string) *chart.Dependency {
	d := &chart.Dependency{Name: name, Version: g.of("*", "1.x", "~1.2.0", ">=1", "", "x.y", ">0-0")}
	if g.likely(30) {
		d.Alias = g.of("a", "b", "d", "dd")
	}
	if g.likely(60) {
		d.Condition = g.of("a.enabled", "b.enabled", "c.enabled", "enabled", "x", " b.enabled,a.enabled ", "c,enabled", ",a.x,", "a", "a.b.enabled", "b. enabled,x")
	}
	for g.likely(30) {
		d.Tags = append(d.Tags, g.of("a", "b", "x"))
	}
	for g.likely(40) {
		d.ImportValues = append(d.ImportValues, g.imported())
	}
	return d
}

func (g grower) imported() any {
	if g.likely(40) {
		return g.of("a", "b", "x", "a.b", "")
	}
	item := map[string]any{}
	if g.likely(97) {
		item["child"] = g.of("a", "b", "x", "a.b", "x.a", "global", "exports")
	}
	if g.likely(97) {
		item["parent"] = g.of(".", "a", "b", "x", "a.b", "x.a.b", "global", "", "..")
	}
	return item
}
