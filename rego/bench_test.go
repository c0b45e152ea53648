package rego

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// healthy returns facts about n ordinary workloads. Each has nine facts, and no rule reports any
// of them.
func healthy(n int) *facts.Facts {
	f := &facts.Facts{}
	last := 0
	id := func() int { last++; return last }
	for i := range n {
		name := fmt.Sprintf("web-%d", i)
		w := "Deployment shop/" + name
		f.Workloads = append(f.Workloads, facts.Workload{ID: id(), Ref: w, Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name,
			PodsMin: 3, PodsMax: 3, Permanent: true})
		f.Sharing = append(f.Sharing, facts.Sharing{ID: id(), W: i, Outcome: diag.Always, Pods: 3, Usable: 6, Zones: 3, OnOneNode: 1, InOneZone: 1})
		f.Eligibility = append(f.Eligibility, facts.Eligibility{ID: id(), W: i, Outcome: diag.Always, Pods: 3, Nodes: 6, Eligible: 6})
		for _, resource := range []string{"cpu", "memory"} {
			f.Requests = append(f.Requests, facts.Request{ID: id(), W: i, Outcome: diag.Always, Resource: resource, Request: "100Mi",
				Largest: "4Gi", LargestNode: "node-1", Eligible: 6, Fitting: 6})
		}
		f.AntiAffinity = append(f.AntiAffinity, facts.AntiAffinity{ID: id(), W: i, Outcome: diag.Always, Pods: 3,
			Keys: []string{"kubernetes.io/hostname"}, Domains: 6, Most: 6, Nodes: 6, Eligible: 6})
		f.Room = append(f.Room, facts.Room{ID: id(), W: i, Outcome: diag.Always, Cause: "pods", Pods: 3, Most: 30, Resource: "cpu", Request: "100m", Nodes: 6, Eligible: 6})
		f.TopologyKeys = append(f.TopologyKeys, facts.TopologyKey{ID: id(), Object: w, Use: "anti-affinity", Hard: true,
			Key: "kubernetes.io/hostname", Declared: true, Usable: 6, With: 6, Known: true})
		f.Selectors = append(f.Selectors, facts.Selector{ID: id(), W: -1, Use: "anti-affinity", Hard: true, Form: "set", Text: "app=" + name,
			MatchesOwn: diag.Always, OwnNamespace: diag.Always, Matches: 1, Declared: n, Namespaces: facts.Namespaces{Names: []string{"shop"}}})
	}
	return f
}

func loaded(tb testing.TB, opts Options) *Engine {
	tb.Helper()
	opts.Rules = rules.FS
	return loadedFrom(tb, opts)
}

// loadedFrom loads the rules that the options select.
func loadedFrom(tb testing.TB, opts Options) *Engine {
	tb.Helper()
	e, err := Load(opts)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}
