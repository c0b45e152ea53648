package derive

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// termBeside reports whether the same list has another affinity term with the replacement of a
// deprecated topology key. Soft terms add up, and one without domains adds nothing; required
// anti-affinity on a label that no node has keeps nothing apart (R-A8), so the other term decides.
// Required affinity needs both labels, and soft spread scores only nodes that have all keys
// (podtopologyspread/scoring.go, requireAllTopologies).
func termBeside(all []*model.Term, t *model.Term) bool {
	replacement, deprecated := topology.Deprecated(t.Key)
	if !deprecated || t.Use == model.Spread || t.Use == model.Affinity && t.Hard {
		return false
	}
	return slices.ContainsFunc(all, func(o *model.Term) bool {
		return o.Use == t.Use && o.Hard == t.Hard && o.Key == replacement
	})
}

// nodeTermBeside reports whether the same node affinity has another term that asks for the
// replacement of a deprecated key: required terms are alternatives and preferred ones add up.
func nodeTermBeside(w *workload.Workload, term *source.Node, hard bool, key string) (found bool) {
	replacement, deprecated := topology.Deprecated(key)
	if !deprecated || replacement == "" {
		return false
	}
	eachNodeTerm(w, func(other *source.Node, otherHard bool) {
		if other == term || otherHard != hard {
			return
		}
		found = found || slices.ContainsFunc(other.Get("matchExpressions").Items(), func(e *source.Node) bool { return e.Get("key").Text() == replacement })
	})
	return found
}

// maker returns the name of a custom resource whose operator may create the pods that a selector
// asks for, or "".
func (b terms) maker(w *workload.Workload, t *model.Term) string {
	if b.Set == nil || len(b.Set.Customs) == 0 {
		return ""
	}
	in := t.Namespaces
	if t.NamespaceSelector != nil {
		in = []string{""}
	} else if len(in) == 0 {
		in = []string{w.Namespace()}
	}
	values := map[string]string{}
	for _, pair := range t.Pairs() {
		values[pair[0]] = pair[1]
	}
	for _, namespace := range in {
		for _, key := range t.Keys() {
			if o := b.Set.Maker(namespace, key, values[key]); o != nil {
				return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
			}
		}
	}
	return ""
}
