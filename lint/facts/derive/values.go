package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
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

// limitOf converts a limit of the workload with an index; nil means no limit.
func limitOf(w int, l *bound.Limit) facts.Limit {
	if l == nil {
		return facts.Limit{By: "none", Rules: []facts.Rule{}}
	}
	rules := []facts.Rule{}
	for _, t := range l.Terms {
		if r := termRule(w, t); !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return facts.Limit{
		By: string(l.By), Fit: l.Most, Rules: rules, Domains: l.Domains, Eligible: l.Eligible, Resource: string(l.Binding),
	}
}

// placed describes where the pods of a workload are, or of one of its revisions during a rollout: a
// node for each pod. It counts all nodes, and the pods on a few.
func placed(w int, revision string, nodes []*topology.Node) facts.Placed {
	p := facts.Placed{W: w, Revision: revision, Pods: len(nodes)}
	at := map[*topology.Node]int{}
	for _, n := range nodes {
		i, known := at[n]
		if !known {
			i = len(at)
			at[n] = i
			if i <= message.MaxPlaces {
				p.On = append(p.On, facts.NodePods{Node: n.Name})
			}
		}
		if i < len(p.On) {
			p.On[i].Pods++
		}
	}
	p.Nodes = len(at)
	return p
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
