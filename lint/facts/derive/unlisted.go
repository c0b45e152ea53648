package derive

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// unlisted adds facts about extended resources that the pods request and no node lists, and reports
// whether there are any. The nodes for such pods are unknown, so there are no facts about the
// workload with others or in changes.
func (b limits) unlisted(w *workload.Workload) bool {
	names := search.Unlisted(b.m, w)
	if len(names) == 0 {
		return false
	}
	b.faulty[w] = true
	requests := b.m.Group(w).Requests
	e := b.m.Eligible(w)
	for _, name := range names {
		i := slices.IndexFunc(requests, func(r model.Request) bool { return r.Name == name })
		fact := facts.Request{
			Outcome: diag.Unknown, Resource: string(name), Request: requests[i].Quantity.String(), Largest: "0",
			Eligible: e.Count + e.Growable, PerNode: w.Kind.PerNode(), Unlisted: true, Suggestion: b.nearResource(name),
		}
		s := about(w, requestSpan(w, name))
		if fact.Suggestion != "" {
			s = s.fix("%s", message.RequestInstead(fact.Suggestion))
		}
		s = s.fix("%s", message.ListResource(name))
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.Requests = append(b.Requests, fact)
	}
	return true
}

// nearResource returns the extended resource of a node that a name probably means: one of the same
// domain with a similar name, or of the same name with a similar domain. Names are short, so
// letters of the domain are no evidence for the rest.
func (b limits) nearResource(name corev1.ResourceName) string {
	domain, rest, _ := strings.Cut(string(name), "/")
	byName, byDomain := map[string]string{}, map[string]string{}
	var names, domains []string
	for _, listed := range b.m.Topology.Extended.Names() {
		d, r, _ := strings.Cut(listed, "/")
		if d == domain {
			names, byName[r] = append(names, r), listed
		}
		if r == rest {
			domains, byDomain[d] = append(domains, d), listed
		}
	}
	if near := b.nearest(rest, names); near != "" {
		return byName[near]
	}
	return byDomain[b.nearest(domain, domains)]
}
