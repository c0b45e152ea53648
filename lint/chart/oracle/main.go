package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/fixtures/charts"
)

func main() {
	cases := flag.Int("cases", 1000, "random charts to compare")
	seed := flag.Uint64("seed", 1, "seed")
	one := flag.Int("case", -1, "show this one case")
	out := flag.String("shrink", "", "write shrunk differences into this folder")
	answers := flag.String("answer", "", "write what Helm makes of all charts of this folder")
	dir := flag.String("dir", "", "compare the charts below this directory instead")
	traced := flag.Bool("trace", false, "count what lines are traced to")
	flag.Parse()
	log.SetOutput(io.Discard) // drops Helm's warnings
	same := true
	switch {
	case *one >= 0:
		show(charts.Generate(*seed, uint64(*one)))
	case *answers != "":
		same = answerFolder(*answers)
	case *dir != "":
		same = public(*dir, *traced)
	default:
		start := time.Now()
		t := run(*cases, *seed, *traced)
		report(t, *out)
		t.print(time.Since(start))
		if *traced {
			t.traced.print()
		}
		same = len(t.failures) == 0
	}
	if !same {
		os.Exit(1)
	}
}

// failure is a difference and its case.
type failure struct {
	number int
	c      *charts.Case
	difference
}

// tally holds the counts of a run.
type tally struct {
	cases, rendered, placed, unstable, lines int
	// features counts the features of the cases that render.
	features map[string]int
	failures []failure
	traced   traces
}

// run compares cases on all processors. The result does not depend on their distribution.
func run(cases int, seed uint64, traced bool) *tally {
	t := &tally{features: map[string]int{}}
	var next atomic.Int64
	var lock sync.Mutex
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= cases {
					return
				}
				c := charts.Generate(seed, uint64(i))
				o := compare(c)
				lock.Lock()
				t.add(i, c, o)
				if traced && o.rendered {
					t.traced.add(fmt.Sprintf("case %d", i), c, o.result)
				}
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	slices.SortFunc(t.failures, func(a, b failure) int { return a.number - b.number })
	return t
}

func (t *tally) add(number int, c *charts.Case, o outcome) {
	t.cases++
	t.lines += o.lines
	if o.rendered {
		t.rendered++
		for _, f := range c.Features() {
			t.features[f]++
		}
	}
	if o.placed {
		t.placed++
	}
	if o.unstable {
		t.unstable++
	}
	for _, d := range o.differences {
		t.failures = append(t.failures, failure{number, c, d})
	}
}

func (t *tally) print(took time.Duration) {
	rarest := slices.SortedFunc(maps.Keys(t.features), func(a, b string) int { return t.features[a] - t.features[b] })
	for _, f := range rarest[:min(8, len(rarest))] {
		fmt.Printf("%6d  %s\n", t.features[f], f)
	}
	fmt.Printf("%d charts, %d rendered by both sides, %d lines, %d features; %d failures with a line; %d unstable; %d DIFFER; %v\n",
		t.cases, t.rendered, t.lines, len(t.features), t.placed, t.unstable, len(t.failures), took.Round(time.Second))
}

// report shrinks and prints the first difference of every cause.
func report(t *tally, folder string) {
	seen := map[string]int{}
	for _, f := range t.failures {
		key := f.Kind + ": " + f.Cause
		if f.Kind == "text" || f.Kind == "place" {
			key = f.Kind + ": " + strings.Join(strings.Fields(f.Text)[:1], "")
		}
		seen[key]++
		if seen[key] > 1 || len(seen) > 25 {
			continue
		}
		small := shrink(f)
		archive := archived(small)
		fmt.Printf("\n=== case %d\n%s", f.number, archive)
		if folder != "" {
			write(filepath.Join(folder, fmt.Sprintf("found-%d.txtar", f.number)), archive)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		fmt.Printf("%6d  %s\n", seen[key], key)
	}
}

// shrink removes parts of a case while the difference stays the same.
func shrink(f failure) failure {
	f.c = f.c.Shrink(func(k *charts.Case) bool {
		for _, d := range compare(k).differences {
			if d.Kind == f.Kind && d.Cause == f.Cause {
				f.difference = d
				return true
			}
		}
		return false
	})
	return f
}

// show prints a case and the results of both sides.
func show(c *charts.Case) {
	f := failure{c: c}
	for _, d := range compare(c).differences {
		f.difference = d
	}
	fmt.Printf("%s", archived(f))
}
