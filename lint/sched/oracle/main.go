package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/fixtures/clusters"
)

// options are those of the command line.
type options struct {
	cases    int
	seed     uint64
	families []string
	states   int
	walks    int
	decide   bool
	one      int
}

func main() {
	o := options{}
	families := flag.String("family", "", "families to generate, with commas between; empty for all: "+strings.Join(clusters.Families, ", "))
	flag.IntVar(&o.cases, "cases", 1000, "cases of each family")
	flag.Uint64Var(&o.seed, "seed", 1, "seed")
	flag.IntVar(&o.states, "states", 10000, "cap on the states of one case")
	flag.IntVar(&o.walks, "walks", 2, "random runs along which filters are compared")
	flag.BoolVar(&o.decide, "decide", true, "compare decisions as well")
	flag.IntVar(&o.one, "case", -1, "show this one case of the family")
	out := flag.String("shrink", "", "write shrunk disagreements into this folder")
	answers := flag.String("answer", "", "write the answers of all fixtures of this folder")
	pictures := flag.String("gallery", "", "write shrunk cases in which order matters into this folder")
	flag.Parse()
	o.families = clusters.Families
	if *families != "" {
		o.families = strings.Split(*families, ",")
	}
	var err error
	switch {
	case o.one >= 0:
		show(o)
		return
	case *answers != "":
		err = answerFolder(o, *answers)
	case *pictures != "":
		err = gallery(o, *pictures, 20)
	default:
		compareAll(o, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compareAll prints the table and what differs.
func compareAll(o options, folder string) {
	start := time.Now()
	tables, failures := run(o)
	printTable(tables, time.Since(start))
	report(o, failures, folder)
	if len(failures) > 0 {
		os.Exit(1)
	}
}

// table is the counts of one family.
type table struct {
	family                                               string
	cases, discarded, undetermined, open, beyond, states int
	always, order, never                                 int
	filters, judged, disagreements                       int
	// why counts what leaves verdicts open.
	why map[string]int
}

// failure is a case on which the sides disagree.
type failure struct {
	c       *clusters.Case
	finding Finding
}

// run compares the cases of all families on all processors. The result does
// not depend on how they are shared out.
func run(o options) ([]table, []failure) {
	tables := make([]table, len(o.families))
	var failures []failure
	var next atomic.Int64
	var lock sync.Mutex
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			comparer := newComparer(o)
			for {
				i := int(next.Add(1) - 1)
				if i >= o.cases*len(o.families) {
					return
				}
				f := i % len(o.families)
				c := clusters.Generate(o.families[f], o.seed, uint64(i/len(o.families)))
				nodes, manifests := c.Text()
				r, err := comparer.try(nodes, manifests)
				lock.Lock()
				failures = append(failures, tables[f].add(c, r, err)...)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	slices.SortFunc(failures, func(a, b failure) int {
		return strings.Compare(fmt.Sprintf("%s %09d", a.c.Family, a.c.Number), fmt.Sprintf("%s %09d", b.c.Family, b.c.Number))
	})
	return tables, failures
}

func newComparer(o options) *Comparer {
	w, err := NewWorld(context.Background())
	if err != nil {
		panic(err)
	}
	return &Comparer{World: w, States: o.states, Walks: o.walks, Decide: o.decide}
}

// numbers are what panics of one cause differ in.
var numbers = regexp.MustCompile(`[0-9]+`)

// try is Compare with panics of either side turned into findings.
func (c *Comparer) try(nodes, manifests string) (r *Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			r = &Report{}
			where := make([]byte, 1<<14)
			where = where[:runtime.Stack(where, false)]
			r.find("panic", numbers.ReplaceAllString(fmt.Sprint(p), "N"), "%v\n%s", p, where)
		}
	}()
	return c.Compare(context.Background(), nodes, manifests)
}

func (t *table) add(c *clusters.Case, r *Report, err error) []failure {
	t.family = c.Family
	t.cases++
	if err != nil {
		t.disagreements++
		return []failure{{c, Finding{Kind: "error", Cause: err.Error(), Text: err.Error()}}}
	}
	t.filters += r.Filters
	t.judged += r.Judged
	if r.Discarded {
		t.discarded++
	}
	if r.Undetermined {
		t.undetermined++
		if t.why == nil {
			t.why = map[string]int{}
		}
		t.why[r.Why]++
	}
	if r.Beyond {
		t.beyond++
	}
	if r.Open {
		t.open++
	}
	if r.Truth != nil {
		t.states += r.Truth.States
		switch r.Truth.Verdict {
		case Always:
			t.always++
		case OrderDependent:
			t.order++
		case Never:
			t.never++
		}
	}
	var all []failure
	for _, f := range r.Findings {
		all = append(all, failure{c, f})
	}
	if len(all) > 0 {
		t.disagreements++
	}
	return all
}

func printTable(tables []table, took time.Duration) {
	row := func(t table) {
		fmt.Printf("%-14s %7d %7d %7d %7d %7d %7d %7d %7d %9d %9d %9d %6d\n", t.family, t.cases, t.always, t.order, t.never, t.undetermined, t.open, t.beyond, t.discarded, t.states, t.filters, t.judged, t.disagreements)
	}
	fmt.Printf("%-14s %7s %7s %7s %7s %7s %7s %7s %7s %9s %9s %9s %6s\n", "family", "cases", "always", "order", "never", "undet.", "open", "beyond", "discard", "states", "filters", "objects", "DIFFER")
	sum := table{family: "all", why: map[string]int{}}
	for _, t := range tables {
		row(t)
		sum.cases += t.cases
		for why, n := range t.why {
			sum.why[why] += n
		}
		sum.always += t.always
		sum.order += t.order
		sum.never += t.never
		sum.undetermined += t.undetermined
		sum.discarded += t.discarded
		sum.beyond += t.beyond
		sum.open += t.open
		sum.states += t.states
		sum.filters += t.filters
		sum.judged += t.judged
		sum.disagreements += t.disagreements
	}
	row(sum)
	for _, why := range slices.Sorted(maps.Keys(sum.why)) {
		fmt.Printf("undetermined for want of %s: %d\n", why, sum.why[why])
	}
	fmt.Printf("%.0f cases a second, %v in all\n", float64(sum.cases)/took.Seconds(), took.Round(time.Second))
}
