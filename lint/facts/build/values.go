package build

import (
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
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

// placed is where pods of a workload are, those of one revision during a rollout.
func placed(w int, revision string, nodes []*topology.Node) facts.Placed {
	on, all := nodePods(nodes)
	return facts.Placed{W: w, Revision: revision, Pods: len(nodes), Nodes: all, On: on}
}

// runningAt is where the pods are when a rollout is stuck.
func runningAt(w int, r *disruption.Rollout) []facts.Placed {
	old, fresh := r.Left()
	all := []facts.Placed{}
	if len(old) > 0 {
		all = append(all, placed(w, "old", old))
	}
	if len(fresh) > 0 {
		all = append(all, placed(w, "new", fresh))
	}
	return all
}
