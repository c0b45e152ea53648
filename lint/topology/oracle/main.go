package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

func main() {
	cases := flag.Uint64("cases", 1000, "how many")
	seed := flag.Uint64("seed", 1, "of the random cases")
	one := flag.Int64("case", -1, "the number of a single case to print")
	flag.Parse()
	registerAWS()
	if *one >= 0 {
		pool, pods := newCase(*seed, uint64(*one))
		fmt.Printf("%s---\n%s%s\n", pool, pods, compare(pool, pods))
		return
	}
	counts, wrong := run(*seed, *cases)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%6d %s\n", counts[key], key)
	}
	if len(wrong) > 0 {
		fmt.Printf("%d differ, the first of them %v\n", len(wrong), wrong[:min(len(wrong), 10)])
		os.Exit(1)
	}
}

// result has the answers of both sides for one case, and the reason if ours is unknown or refused.
type result struct {
	theirs, ours, why string
	err               error
}

// differs reports whether our answer is wrong.
func (r result) differs() bool {
	switch r.ours {
	case unknown:
		return r.err != nil
	case eligible:
		return r.err != nil || r.theirs != eligible
	case refused:
		return r.err != nil || r.theirs != refused && r.theirs != never
	}
	return r.err != nil || r.theirs == eligible
}

func (r result) String() string {
	text := fmt.Sprintf("Karpenter: %s, schedlint: %s", r.theirs, r.ours)
	if r.why != "" {
		text += " (" + r.why + ")"
	}
	if r.err != nil {
		text += ": " + r.err.Error()
	}
	return text
}

func compare(pool, pods string) (r result) {
	if r.theirs, r.err = theirs(pool, pods); r.err == nil {
		r.ours, r.why, r.err = ours(pool, pods)
	}
	return r
}

// run compares cases. It counts the answers and returns the numbers of the cases that differ.
func run(seed, cases uint64) (counts map[string]int, wrong []uint64) {
	counts = map[string]int{}
	for i := range cases {
		r := compare(newCase(seed, i))
		counts[r.String()]++
		if r.differs() {
			wrong = append(wrong, i)
		}
	}
	return counts, wrong
}

// ours answers as schedlint does.
func ours(pool, pods string) (answer, why string, err error) {
	nodes, err := parse(pool)
	if err != nil {
		return "", "", err
	}
	manifests, err := parse(pods)
	if err != nil {
		return "", "", err
	}
	topo, err := topology.Load(nodes)
	if err != nil {
		return refused, strings.TrimSpace(strings.SplitN(err.Error(), "NodePool ", 3)[1]), nil
	}
	set := workload.Load(workload.NewTable(), manifests)
	m := sched.New(set, topo)
	w := set.Workloads[0]
	if g := m.Group(w); g.Unknown.Given() {
		return unknown, g.Unknown.Name, nil
	}
	if m.Eligible(w).Growable > 0 {
		return eligible, "", nil
	}
	return never, "", nil
}

func parse(text string) ([]*source.Object, error) {
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil {
		return nil, err
	}
	for _, p := range set.Problems {
		return nil, fmt.Errorf("%s: %s", p.Kind, p.Detail)
	}
	return set.Objects, nil
}
