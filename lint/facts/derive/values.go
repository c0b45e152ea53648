package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// amountOf converts an amount.
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

// termRule returns the rule of a term. The argument w is the index of its workload.
func termRule(w int, t *model.Term) facts.Rule {
	return facts.Rule{W: w, Use: string(t.Use), Hard: t.Hard, Key: t.Key}
}

// hardRules returns the rules of some terms of a workload, each once.
func hardRules(w int, terms []*model.Term) []facts.Rule {
	rules := []facts.Rule{}
	for _, t := range terms {
		if r := termRule(w, t); !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

// limitOf converts a limit of the workload with an index; nil means no limit.
func limitOf(w int, l *bound.Limit) facts.Limit {
	if l == nil {
		return facts.Limit{By: "none", Rules: []facts.Rule{}}
	}
	return facts.Limit{
		By: string(l.By), Fit: l.Most, Rules: hardRules(w, l.Terms), Domains: l.Domains, Eligible: l.Eligible, Resource: string(l.Binding),
	}
}

// placed describes where the pods of a workload are, or of one of its revisions during a rollout.
func placed(w int, revision string, nodes []*topology.Node) facts.Placed {
	on, all := nodePods(nodes)
	return facts.Placed{W: w, Revision: revision, Pods: len(nodes), Nodes: all, On: on}
}

// runningAt describes where the pods are when a rollout is stuck.
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
