package derive

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// shortfall returns the figures of a rollout that never completes for want of a resource. It returns
// the zero value for any other rollout, and if the amount on an eligible node is unknown or can
// grow.
func (b changes) shortfall(w *workload.Workload, r *disruption.Rollout, fact *facts.Rollout) facts.Shortfall {
	room := func(rule facts.Rule) bool {
		return rule.Use == string(search.PartRequests) || rule.Use == string(search.PartSlots)
	}
	if fact.Outcome != diag.Never || !slices.ContainsFunc(fact.Rules, room) && fact.Limit.By != string(bound.ByRoom) {
		return facts.Shortfall{}
	}
	var nodes []*topology.Node
	for n, grown := range b.m.Usable(w) {
		if grown {
			return facts.Shortfall{}
		}
		nodes = append(nodes, n)
	}
	slot := model.Request{Name: corev1.ResourcePods, Amount: 1, Quantity: *resource.NewQuantity(1, resource.DecimalSI)}
	requests := append(slices.Clone(model.Written(b.m.Group(w).Requests)), slot)
	b.m.Run().Spend(1 + len(nodes)*len(requests)/model.PerStep)
	if w.Kind.PerNode() {
		// The node with the least room for a new pod next to the old one.
		var s facts.Shortfall
		least := int64(0)
		for _, n := range nodes {
			for i := range requests {
				q := &requests[i]
				has, judged := offered(n, q)
				if left := has - q.Amount; judged && left >= 0 && left < q.Amount && (s.Resource == "" || left < least) {
					least, s = left, figures(q, 1, len(nodes))
					s.Node, s.Left, s.LeftOf = n.Name, amountText(q, left), amountText(q, has)
				}
			}
		}
		return s
	}
	if s := fullNodes(nodes, requests, r); s.Resource != "" {
		return s
	}
	together := map[*workload.Workload]int{w: r.Replicas}
	for _, o := range b.m.Workloads {
		if i := b.row(o); slices.Contains(fact.Others, i) && slices.ContainsFunc(fact.Rules, func(rule facts.Rule) bool { return rule.W == i && room(rule) }) {
			together[o] = b.pods(o)
		}
	}
	// The scarcest resource counts.
	var s facts.Shortfall
	scarcest := 0.0
	for i := range requests {
		q := &requests[i]
		var requested, total int64
		running, known := 0, true
		for w, pods := range together {
			running += pods
			for _, o := range append(slices.Clone(b.m.Group(w).Requests), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
				if o.Name == q.Name {
					requested += int64(pods) * o.Amount
				}
			}
		}
		for _, n := range nodes {
			has, judged := offered(n, q)
			total, known = total+has, known && judged
		}
		if share := float64(requested) / float64(max(total, 1)); known && share > scarcest {
			scarcest, s = share, figures(q, running, len(nodes))
			s.Requested, s.Offered = amountText(q, requested), amountText(q, total)
		}
	}
	return s
}

// pods returns how many pods of a workload run.
func (b changes) pods(w *workload.Workload) (n int) {
	if !w.Kind.PerNode() {
		return model.Certain(w)
	}
	for range b.m.Usable(w) {
		n++
	}
	return n
}

// fullNodes returns how much is left on a node if the old pods alone fill all nodes up to one
// resource. Each node then has as many of them as it can take, however they are placed.
func fullNodes(nodes []*topology.Node, requests []model.Request, r *disruption.Rollout) (s facts.Shortfall) {
	if r.Unavailable > 0 || r.Way != workload.Rolling {
		return s
	}
	sum, most := 0, int64(-1)
	for _, n := range nodes {
		count, binding := model.Fits(n, requests)
		i := slices.IndexFunc(requests, func(q model.Request) bool { return q.Name == binding })
		if i < 0 || s.Resource != "" && s.Resource != string(binding) {
			return facts.Shortfall{}
		}
		q := &requests[i]
		if s.Resource == "" {
			s = figures(q, r.Replicas, len(nodes))
		}
		has, _ := offered(n, q)
		if left := has - int64(count)*q.Amount; left > most {
			most, s.Left, s.LeftOf = left, amountText(q, left), amountText(q, has)
		}
		sum += count
	}
	if sum != r.Replicas {
		return facts.Shortfall{}
	}
	return s
}

func figures(q *model.Request, running, nodes int) facts.Shortfall {
	return facts.Shortfall{Resource: string(q.Name), Request: q.Quantity.String(), Running: running, Nodes: nodes}
}

// offered is like model.Offered. It also knows the pod slots of a node.
func offered(n *topology.Node, q *model.Request) (has int64, judged bool) {
	if q.Name != corev1.ResourcePods {
		return model.Offered(n, q)
	}
	slots, listed := n.Allocatable[corev1.ResourcePods]
	return slots.Value(), listed
}

func amountText(q *model.Request, amount int64) string {
	text := model.Quantity(q.Name, amount, q.Quantity.Format)
	return text.String()
}
