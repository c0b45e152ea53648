package build

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// amountOf is an amount as rows have it.
func amountOf(a *workload.Amount) facts.Amount {
	if a.Field == "" {
		return facts.Amount{}
	}
	return facts.Amount{Field: a.Field, Value: a.Value.String(), Written: a.Written, Of: a.Of, RoundedUp: a.Up, Pods: a.Pods()}
}

func arithmeticOf(a *workload.Arithmetic) facts.Arithmetic {
	return facts.Arithmetic{
		Strategy: string(a.Strategy), Surge: amountOf(&a.Surge), Unavailable: amountOf(&a.Unavailable),
		Correction: string(a.Correction), Pods: a.Pods, Preview: int(a.Preview),
	}
}

// termRule is the rule of a term of a workload with an index.
func termRule(w int, t *model.Term) facts.Rule {
	return facts.Rule{W: w, Use: string(t.Use), Hard: t.Hard, Key: t.Key}
}

// hardRules are the required rules of terms of a workload, each once.
func hardRules(w int, terms []*model.Term) []facts.Rule {
	rules := []facts.Rule{}
	for _, t := range terms {
		if r := termRule(w, t); !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

// limitOf is a limit of the workload with an index; nil is none.
func limitOf(w int, l *bound.Limit) facts.Limit {
	if l == nil {
		return facts.Limit{By: "none", Rules: []facts.Rule{}}
	}
	return facts.Limit{
		By: string(l.By), Fit: l.Most, Rules: hardRules(w, l.Terms), Domains: l.Domains, Eligible: l.Eligible, Resource: string(l.Binding),
	}
}

func poolSizes(pools []model.PoolSize) []facts.PoolSize {
	sizes := []facts.PoolSize{}
	for _, p := range pools {
		sizes = append(sizes, facts.PoolSize{Pool: p.Pool, Nodes: p.Nodes})
	}
	return sizes
}

// maxRunning bounds the nodes that a row names: as many as a sentence names, and one more.
const maxRunning = maxNamed + 1

// running is pods of a revision of a workload on nodes, one for each pod.
func running(w int, revision string, nodes []*topology.Node) facts.Running {
	r := facts.Running{W: w, Revision: revision, Pods: len(nodes), Nodes: []facts.NodePods{}}
	at := map[*topology.Node]int{}
	for _, n := range nodes {
		i, known := at[n]
		switch {
		case known && i < maxRunning:
			r.Nodes[i].Pods++
		case known:
		default:
			i = len(at)
			if at[n] = i; i < maxRunning {
				r.Nodes = append(r.Nodes, facts.NodePods{Node: n.Name, Pods: 1})
			} else {
				r.More++
			}
		}
	}
	return r
}

// runningAt is where the pods are when a rollout is stuck.
func runningAt(w int, r *disruption.Rollout) []facts.Running {
	old, fresh := r.Left()
	all := []facts.Running{}
	if len(old) > 0 {
		all = append(all, running(w, "old", old))
	}
	if len(fresh) > 0 {
		all = append(all, running(w, "new", fresh))
	}
	return all
}

// refusedBy counts the nodes by the filter that refuses the pod there, most first.
func refusedBy(reasons map[certificate.Reason]int) []facts.Refused {
	all := []facts.Refused{}
	for filter, nodes := range reasons {
		all = append(all, facts.Refused{Filter: string(filter), Nodes: nodes})
	}
	slices.SortFunc(all, func(a, b facts.Refused) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Filter, b.Filter))
	})
	return all
}
