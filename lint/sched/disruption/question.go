package disruption

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Question returns a key of everything that the answers about a workload depend on, except
// the nodes: all workloads with which it is judged, the pods that their hard rules may
// select, and the budgets that may select its pods. Contexts of one cluster with the same key
// have the same answers. The workload, its autoscaler and budgets are identified by object,
// because findings point at their lines, and other workloads by content.
func (tr trials) Question(w *workload.Workload) string {
	return tr.question(w, most(w), func(o *source.Object) string {
		if o == w.Object || w.Scale != nil && o == w.Scale.Object || o.Kind == "PodDisruptionBudget" {
			return fmt.Sprintf("%p", o)
		}
		return tr.advice.contents(o)
	})
}

// question returns the text of a Question for at most that many pods of the workload; name
// identifies an object.
func (tr trials) question(w *workload.Workload, pods int, name func(*source.Object) string) string {
	q := question{j: tr.shared, name: name}
	group := slices.Concat(tr.group(w, false), tr.group(w, true), tr.contenders(w, pods), tr.running, []*workload.Workload{w})
	for i, o := range group {
		if !slices.Contains(group[:i], o) {
			q.member(o)
		}
	}
	for _, crowd := range [][]*workload.Workload{tr.contendersOf(w, model.Certain(w)), tr.contendersOf(w, pods)} {
		if crowd != nil {
			q.WriteString("crowd " + tr.digest(crowd) + "\n")
		}
	}
	for _, b := range tr.BudgetsOf(w) {
		fmt.Fprintf(&q, "budget %s %v %d %d %d", name(b.Object), b.Known, b.AllowedMin, b.AllowedMax, b.UpTo)
		q.objects(b.Workloads)
	}
	for _, b := range tr.PossibleBudgets(w) {
		fmt.Fprintf(&q, "perhaps %s %v\n", name(b.Object), b.Selects)
	}
	return q.String()
}

// digest hashes the manifests of a crowd.
func (tr trials) digest(crowd []*workload.Workload) string {
	key := groupKey{&crowd[0], len(crowd)}
	known, ok := tr.crowds[key]
	if !ok {
		sum := sha256.New()
		for _, w := range crowd {
			fmt.Fprintln(sum, w, tr.advice.contents(w.Object))
			if borrows(w) {
				fmt.Fprintf(sum, "%p", w.SpecNode)
			}
		}
		known = string(sum.Sum(nil))
		tr.crowds[key] = known
	}
	return known
}

// question builds the text of a Question.
type question struct {
	strings.Builder
	j    *shared
	name func(*source.Object) string
}

func (q *question) objects(ws []*workload.Workload) {
	for _, w := range ws {
		q.WriteString(" " + q.name(w.Object))
	}
	q.WriteByte('\n')
}

// member adds a workload and the workloads that its hard rules may select. The content of its
// object does not include a template that is written in another object.
func (q *question) member(w *workload.Workload) {
	q.WriteString(q.name(w.Object))
	if borrows(w) {
		fmt.Fprintf(q, " %p", w.SpecNode)
	}
	if w.Scale != nil {
		q.WriteString(" by " + q.name(w.Scale.Object))
	}
	for _, t := range q.j.m.Group(w).Terms {
		if !t.Hard {
			continue
		}
		q.objects(q.j.m.Others(t, w, true))
		if t.NamespaceSelector != nil {
			fmt.Fprint(q, q.j.m.Namespaces)
		}
		if t.Use == model.Affinity {
			fmt.Fprint(q, q.j.m.Self(t, w))
		}
	}
	q.WriteByte('\n')
}
